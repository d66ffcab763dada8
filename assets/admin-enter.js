// A link of the host has its secret after the #, which only the browser gets. It goes to the service in a form, and
// out of the address, so that the history of the browser does not keep it.
'use strict';

const form = document.getElementById('enter');
const secret = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
form.elements.token.value = secret;
form.submit();
