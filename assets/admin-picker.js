// The media library in a dialog over the page that asks for a picture. Without scripts its links lead to the library.
'use strict';

// Opens the dialog. `onChoose` gets the address and the text of a picture for a text; other choices are forms. The
// answer of such a form either shows the library again, or the part of the page that is to be replaced.
async function openPicker(address, { title, closeText, part, onChoose }) {
  const dialog = document.createElement('dialog');
  dialog.className = 'picker';
  dialog.setAttribute('aria-label', title);
  const close = document.createElement('button');
  close.type = 'button';
  close.textContent = closeText;
  close.addEventListener('click', () => dialog.close());
  const heading = document.createElement('h2');
  heading.textContent = title;
  const head = document.createElement('div');
  head.className = 'picker-head';
  head.append(heading, close);
  const content = document.createElement('div');
  dialog.append(head, content);
  dialog.addEventListener('close', () => dialog.remove());

  const show = async (request) => {
    const response = await request;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const library = page.querySelector('[data-picker-content]');
    if (library) {
      content.replaceChildren(library);
      return;
    }
    const changed = part && page.getElementById(part);
    if (!changed) {
      // A refusal is a page of its own, with one sentence.
      const problem = document.createElement('p');
      problem.className = 'problem';
      problem.setAttribute('role', 'alert');
      problem.textContent = page.querySelector('main p')?.textContent ?? response.statusText;
      content.prepend(problem);
      return;
    }
    document.getElementById(part).replaceWith(changed);
    document.getElementById('notices').replaceChildren(...page.getElementById('notices').childNodes);
    dialog.close();
    changed.querySelector('[data-picker]')?.focus();
  };

  dialog.addEventListener('click', (event) => {
    const chosen = event.target.closest('[data-picture]');
    const link = event.target.closest('a[href]');
    if (chosen) {
      dialog.close();
      onChoose(chosen.dataset.picture, chosen.dataset.alt);
    }
    if (link) {
      event.preventDefault();
      void show(fetch(link.href));
    }
  });
  dialog.addEventListener('submit', (event) => {
    const form = event.target;
    const isSearch = form.method === 'get';
    // The settings are loaded again with their new picture.
    if (!isSearch && !part && !onChoose) return;
    event.preventDefault();
    event.stopPropagation();
    const data = new FormData(form);
    if (isSearch) {
      void show(fetch(`${form.action}?${new URLSearchParams(data)}`));
      return;
    }
    const body = form.enctype === 'multipart/form-data' ? data : new URLSearchParams(data);
    void show(fetch(form.action, { method: 'POST', body }));
  });

  await show(fetch(address));
  document.body.append(dialog);
  dialog.showModal();
  content.querySelector('input[type="search"]')?.focus();
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-picker]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void openPicker(link.href, {
    title: link.textContent.trim(),
    closeText: link.dataset.picker,
    part: link.dataset.part,
  });
});
