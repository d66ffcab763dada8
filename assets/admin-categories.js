// Categories are dragged to another place of the tree. The buttons beside them do the same one step at a time.
'use strict';

(() => {
  const tree = document.querySelector('[data-tree]');
  if (!tree) return;
  let dragged;
  const clear = () =>
    tree
      .querySelectorAll('.before, .after, .inside')
      .forEach((row) => row.classList.remove('before', 'after', 'inside'));

  /** The upper quarter of a row means before it, the lower quarter behind it, between them below it. */
  const partOf = (row, y) => {
    const { top, height } = row.getBoundingClientRect();
    const share = (y - top) / height;
    return share < 0.25 ? 'before' : share > 0.75 ? 'after' : 'inside';
  };

  tree.addEventListener('dragstart', (event) => {
    dragged = event.target.closest('[data-category]');
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', dragged.dataset.category);
  });

  const targetOf = (event) => {
    const row = event.target.closest('.category');
    const item = row?.closest('[data-category]');
    return dragged && item && !dragged.contains(item) ? { row, item } : undefined;
  };

  tree.addEventListener('dragover', (event) => {
    const target = targetOf(event);
    clear();
    if (!target) return;
    event.preventDefault();
    target.row.classList.add(partOf(target.row, event.clientY));
  });

  tree.addEventListener('dragend', clear);

  tree.addEventListener('drop', (event) => {
    const target = targetOf(event);
    clear();
    if (!target) return;
    event.preventDefault();
    const part = partOf(target.row, event.clientY);
    const list = part === 'inside' ? target.item.querySelector(':scope > ul') : target.item.parentElement;
    const others = [...list.children].filter((item) => item !== dragged);
    // Of a large tree not all categories are on the page.
    const place =
      part === 'inside'
        ? Number(list.dataset.children)
        : others.indexOf(target.item) + (part === 'after' ? 1 : 0);
    send(`${tree.dataset.base}/${dragged.dataset.category}/move`, {
      parentId: list.dataset.parent,
      position: place,
    });
  });

  /** As a form, so that the page shows what has happened and how to take it back. */
  const send = (action, fields) => {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = action;
    for (const [name, value] of Object.entries(fields)) {
      const input = document.createElement('input');
      input.type = 'hidden';
      input.name = name;
      input.value = value;
      form.append(input);
    }
    document.body.append(form);
    form.requestSubmit();
  };
})();
