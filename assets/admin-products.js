// Pages of products: pictures by drag and drop, and the grid of variations. Without scripts there are buttons and forms.
'use strict';

/** Sends a form, and returns the page that answers it; a refusal is thrown with its text. */
async function send(address, body) {
  const response = await fetch(address, { method: 'POST', body });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (!response.ok) throw new Error(page.querySelector('main p')?.textContent ?? response.statusText);
  return page;
}

(() => {
  // Pictures: whatever changes them, the card is fetched again.
  const card = () => document.getElementById('pictures');

  function showProblem(text) {
    const problem = card().querySelector('[data-problem]');
    problem.textContent = text;
    problem.hidden = text === '';
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
  document.addEventListener('drop', (event) => {
    if (!event.target.closest('#pictures')) return;
    event.preventDefault();
    card().classList.remove('dropping');
    void (event.dataTransfer.files.length > 0 ? upload([...event.dataTransfer.files]) : saveOrder());
  });
  const saveOrder = async () => {
    const names = [...card().querySelectorAll('[data-name]')].map((item) => item.dataset.name);
    try {
      const body = new URLSearchParams(names.map((name) => ['name', name]));
      replaceCard(await send(`${card().dataset.pictures}/order`, body));
    } catch (error) {
      await reload();
      showProblem(error.message);
    }
  };
})();

(() => {
  // The grid of variations: arrows and Enter move, a pasted block fills the cells to the right and below.
  const cellsOf = (row) => [...row.querySelectorAll('td input:not([type=hidden])')];

  function neighbour(input, down, right) {
    const row = input.closest('tr');
    const rows = [...row.parentElement.rows];
    const target = rows[rows.indexOf(row) + down];
    return target && cellsOf(target)[cellsOf(row).indexOf(input) + right];
  }

  document.addEventListener('keydown', (event) => {
    const input = event.target;
    if (!input.closest?.('.grid') || event.altKey || event.ctrlKey || event.metaKey) return;
    const isText = input.type !== 'checkbox';
    const atStart = !isText || (input.selectionStart === 0 && input.selectionEnd === 0);
    const atEnd = !isText || input.selectionStart === input.value.length;
    const moves = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      Enter: [1, 0],
      ...(atStart && { ArrowLeft: [0, -1] }),
      ...(atEnd && { ArrowRight: [0, 1] }),
    };
    const move = moves[event.key];
    if (!move) return;
    // Enter in the last row, or with the key for it, saves.
    if (event.key === 'Enter' && event.shiftKey) return;
    event.preventDefault();
    const next = neighbour(input, ...move);
    next?.focus();
    if (next?.type !== 'checkbox') next?.select();
  });

  document.addEventListener('paste', (event) => {
    const input = event.target;
    if (!input.closest?.('.grid')) return;
    const text = event.clipboardData.getData('text').replace(/\r?\n$/, '');
    if (!/[\t\n]/.test(text)) return;
    event.preventDefault();
    text.split(/\r?\n/).forEach((line, down) => {
      line.split('\t').forEach((value, right) => {
        const cell = neighbour(input, down, right);
        if (!cell) return;
        if (cell.type === 'checkbox') cell.checked = /^(yes|ja|oui|true|wahr|vrai|1|x)$/i.test(value.trim());
        else cell.value = value.trim();
        cell.dispatchEvent(new Event('input', { bubbles: true }));
      });
    });
  });

  document.addEventListener('input', (event) => {
    event.target.closest?.('.grid td')?.classList.add('typed');
  });
})();

(() => {
  // A new product: the form is sent, then its pictures, one after the other.
  const form = document.querySelector('[data-new-product]');
  if (!form) return;
  const files = [];
  const chosen = form.querySelector('[data-chosen]');

  function choose(added) {
    for (const file of added) {
      files.push(file);
      const item = document.createElement('li');
      const picture = document.createElement('img');
      picture.src = URL.createObjectURL(file);
      picture.alt = file.name;
      item.append(picture);
      chosen.append(item);
    }
  }

  const drop = form.querySelector('[data-new-pictures]');
  drop.querySelector('input').addEventListener('change', (event) => {
    choose(event.target.files);
    event.target.value = '';
  });
  drop.addEventListener('dragover', (event) => event.preventDefault());
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    choose(event.dataTransfer.files);
  });

  form.addEventListener('submit', (event) => {
    if (files.length === 0) return;
    event.preventDefault();
    void saveWithPictures();
  });
  const saveWithPictures = async () => {
    const button = form.querySelector('.save-bar button');
    button.disabled = true;
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
    });
    if (!response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const refusal = form.querySelector('[data-refusal]');
      refusal.replaceChildren(...page.querySelectorAll('.problem'));
      refusal.scrollIntoView({ block: 'center' });
      button.disabled = false;
      return;
    }
    const product = response.url.replace(/\/variations$/, '');
    const progress = form.querySelector('[data-progress]');
    const problems = [];
    progress.hidden = false;
    for (const [index, file] of files.entries()) {
      progress.textContent = `${progress.dataset.progress} ${index + 1}/${files.length}`;
      const isTwice = files.some((one, place) => place < index && one.name === file.name);
      const body = new FormData();
      body.append('image', file, isTwice ? `${index + 1}-${file.name}` : file.name);
      try {
        await send(`${product}/pictures`, body);
      } catch (error) {
        problems.push(`${file.name}: ${error.message}`);
      }
    }
    if (problems.length > 0) {
      // The product is there already, so the form must not be sent again: a link leads on.
      const next = document.createElement('a');
      next.href = product;
      next.textContent = progress.dataset.next;
      progress.className = 'problem';
      progress.replaceChildren(problems.join(' '), next);
      button.remove();
      next.focus();
      return;
    }
    location.assign(response.url);
  };
})();

(() => {
  // Prices over time: a price holds until the next one.
  const chart = document.querySelector('[data-prices]');
  if (!chart || !window.uPlot) return;
  const points = JSON.parse(chart.dataset.prices);
  const [, last] = points.at(-1);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 } };
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { month: 'short', year: '2-digit' });
  const data = [
    [...points.map(([time]) => time), Math.floor(Date.now() / 1000)],
    [...points.map(([, price]) => price), last],
  ];
  const drawn = new window.uPlot(
    {
      width: chart.clientWidth,
      height: 220,
      legend: { show: false },
      axes: [{ ...axis, values: (_chart, times) => times.map((time) => day.format(time * 1000)) }, axis],
      series: [
        {},
        {
          label: chart.dataset.label,
          stroke: colour('--accent'),
          width: 2,
          paths: window.uPlot.paths.stepped({ align: 1 }),
          points: { show: points.length < 50 },
        },
      ],
    },
    data,
    chart,
  );
  addEventListener('resize', () => drawn.setSize({ width: chart.clientWidth, height: 220 }));
})();
