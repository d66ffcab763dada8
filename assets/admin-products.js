// Pages of products: pictures by drag and drop, and the grid of variations. Without scripts there are buttons and forms.
'use strict';

(() => {
  // Pictures: whatever changes them, the card is fetched again.
  const card = () => document.getElementById('pictures');

  function showProblem(text) {
    const problem = card().querySelector('[data-problem]');
    problem.textContent = text;
    problem.hidden = text === '';
  }

  async function send(address, body) {
    const response = await fetch(address, { method: 'POST', body });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (!response.ok) throw new Error(page.querySelector('main p')?.textContent ?? response.statusText);
    return page;
  }

  function replaceCard(page) {
    card().replaceWith(page.getElementById('pictures'));
  }

  async function reload() {
    const response = await fetch(location.href);
    replaceCard(new DOMParser().parseFromString(await response.text(), 'text/html'));
  }

  /** A product has each name once, so that the second `lamp.jpg` becomes `lamp-2.jpg`. */
  function freeName(name, taken) {
    const [, start, end] = /^(.*?)(\.[^.]*)?$/.exec(name);
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${start}-${number}${end ?? ''}`;
    taken.add(free);
    return free;
  }

  async function upload(files) {
    const address = card().dataset.pictures;
    const taken = new Set([...card().querySelectorAll('[data-name]')].map((item) => item.dataset.name));
    const progress = card().querySelector('[data-progress]');
    const problems = [];
    let done = 0;
    for (const file of files) {
      progress.hidden = false;
      progress.textContent = `${progress.dataset.progress} ${++done}/${files.length}`;
      const body = new FormData();
      body.append('image', file, freeName(file.name, taken));
      try {
        await send(address, body);
      } catch (error) {
        problems.push(`${file.name}: ${error.message}`);
      }
    }
    await reload();
    showProblem(problems.join(' '));
  }

  document.addEventListener('change', (event) => {
    if (event.target.id !== 'picture-files') return;
    event.stopPropagation();
    void upload([...event.target.files]);
  });

  let dragged;
  document.addEventListener('dragstart', (event) => {
    dragged = event.target.closest?.('#pictures li');
  });
  document.addEventListener('dragend', () => (dragged = undefined));
  document.addEventListener('dragover', (event) => {
    if (!card()) return;
    const isFile = event.dataTransfer.types.includes('Files');
    const over = event.target.closest('#pictures');
    if (!over || !(isFile || dragged)) return;
    event.preventDefault();
    card().classList.toggle('dropping', isFile);
    const item = event.target.closest('#pictures li');
    if (!dragged || !item || item === dragged) return;
    const { left, width } = item.getBoundingClientRect();
    item[event.clientX < left + width / 2 ? 'before' : 'after'](dragged);
  });
  document.addEventListener('dragleave', () => card()?.classList.remove('dropping'));
  document.addEventListener('drop', async (event) => {
    if (!event.target.closest('#pictures')) return;
    event.preventDefault();
    card().classList.remove('dropping');
    if (event.dataTransfer.files.length > 0) return upload([...event.dataTransfer.files]);
    const names = [...card().querySelectorAll('[data-name]')].map((item) => item.dataset.name);
    try {
      const body = new URLSearchParams(names.map((name) => ['name', name]));
      replaceCard(await send(`${card().dataset.pictures}/order`, body));
    } catch (error) {
      await reload();
      showProblem(error.message);
    }
  });
})();
