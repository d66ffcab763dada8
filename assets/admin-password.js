// Shows a password, and hides it again.
'use strict';

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-shows]');
  if (!button) return;
  const field = document.getElementById(button.dataset.shows);
  field.type = field.type === 'password' ? 'text' : 'password';
  [button.textContent, button.dataset.hide] = [button.dataset.hide, button.textContent];
  field.focus();
});
