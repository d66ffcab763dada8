// Pictures for the blocks of a page, from the media library in a dialog. Without scripts, their addresses are typed.
'use strict';

/* global openPicker */

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-choose-picture]');
  if (!button) return;
  const { choosePicture, input, alt, close } = button.dataset;
  void openPicker(choosePicture, {
    title: button.textContent.trim(),
    closeText: close,
    onChoose: (address, text) => {
      document.getElementById(input).value = address;
      const description = document.getElementById(alt);
      if (description && description.value === '') description.value = text ?? '';
      button.focus();
    },
  });
});
