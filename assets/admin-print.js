// Pages that are made to be printed have a button for it.
'use strict';

document.addEventListener('click', (event) => {
  if (event.target.closest('[data-print]')) window.print();
});
