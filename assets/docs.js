// The search of the documentation, and buttons that copy examples. Without this script the overview lists the same
// guides and operations.
const box = document.querySelector('.docs-search');
const input = box.querySelector('input');
const found = box.querySelector('.docs-found');
const results = box.querySelector('.docs-results');
const MOST = 12;

let entries;
let loading;

function load() {
  loading ??= fetch('/docs/search.json')
    .then((response) => response.json())
    .then((list) => {
      entries = list.map((entry) => ({
        ...entry,
        titleKey: keyOf(entry.title),
        placeKey: keyOf(entry.place),
        textKey: keyOf(entry.text),
      }));
      show();
    });
}

// Lower case and without accents, with a blank before each word, so that " tok" finds the beginning of a word.
function keyOf(text) {
  const plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  // Names such as createCart are found by each of their words.
  const words = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return ` ${plain} ${words}`.replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
}

// 0: a word is nowhere. A word in the title counts most, the beginning of one less than the whole.
function scoreOf({ titleKey, placeKey, textKey }, words) {
  let score = 0;
  for (const word of words) {
    const value = weightOf(titleKey, word, 20) + weightOf(placeKey, word, 6) + weightOf(textKey, word, 2);
    if (value === 0) return 0;
    score += value;
  }
  return score;
}

function weightOf(key, word, weight) {
  if (key.includes(` ${word} `)) return weight;
  return key.includes(` ${word}`) ? weight / 2 : 0;
}

function show() {
  const words = keyOf(input.value).trim().split(' ').filter(Boolean);
  const unique = [...new Set(words)];
  results.replaceChildren();
  found.textContent = '';
  box.classList.toggle('open', unique.length > 0);
  if (unique.length === 0 || !entries) return;
  const hits = entries
    .map((entry) => ({ entry, score: scoreOf(entry, unique) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  found.textContent = hits.length === 0 ? 'Nothing found.' : `${hits.length} found`;
  results.append(...hits.slice(0, MOST).map(({ entry }) => itemOf(entry, unique[0])));
}

function itemOf({ url, title, place, text }, word) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = url;
  for (const [name, content] of [
    ['strong', title],
    ['span', place],
    ['small', excerptOf(text, word)],
  ]) {
    const part = document.createElement(name);
    part.textContent = content;
    link.append(part);
  }
  item.append(link);
  return item;
}

function excerptOf(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const from = at < 60 ? 0 : text.indexOf(' ', at - 50) + 1;
  return (from > 0 ? '… ' : '') + text.slice(from, from + 140);
}

function close() {
  input.value = '';
  show();
}

box.hidden = false;
input.addEventListener('focus', load);
input.addEventListener('input', show);
// A result on this page only moves to its place.
results.addEventListener('click', close);

document.addEventListener('click', (event) => {
  if (!box.contains(event.target)) box.classList.remove('open');
});

box.addEventListener('keydown', (event) => {
  const links = [input, ...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'Enter' && at === 0) {
    links[1]?.click();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    const step = event.key === 'ArrowDown' ? 1 : -1;
    links[Math.max(0, Math.min(links.length - 1, at + step))].focus();
  }
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  input.focus();
});

// Browsers offer the clipboard only on HTTPS and on this machine.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('article pre')) {
    const frame = document.createElement('div');
    frame.className = 'docs-code';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    block.replaceWith(frame);
    frame.append(block, button);
    button.addEventListener('click', () => {
      // Without the prompts of a terminal.
      void navigator.clipboard.writeText(block.textContent.replaceAll(/^\$ /gm, '')).then(() => {
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 2000);
      });
    });
  }
}
