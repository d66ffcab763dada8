// An editor in place of a textarea that takes markup. The textarea stays in the form: it is what is sent, and it is
// changed only when somebody edits. A text that the editor would change begins in the source view.
'use strict';

/* global Squire, openPicker */

// Text inside of these is not shown by browsers.
const UNSHOWN = 'script, style, template, textarea, title, noscript, select, iframe, object, svg, math';
// The editor shows these, but has no commands for their parts.
const FIXED = ['table', 'dl'];
// Squire writes the elements on the right for those on the left.
const SAME = { strong: 'b', em: 'i' };
const BLOCKS = 'p, div, h1, h2, h3, h4, h5, h6, pre';

// In the document of a template nothing runs or loads.
function parse(text) {
  const template = document.createElement('template');
  template.innerHTML = text;
  return template.content;
}

// A browser resolves an address without a scheme against the page.
function isAllowedAddress(address, schemes) {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  return scheme ? schemes.includes(scheme.toLowerCase()) : !/^[/\\]{2}/.test(address);
}

function allowedAttributes(element, rules) {
  const name = element.localName;
  return [...element.attributes].filter(({ name: attribute, value }) => {
    if (!rules.attributes[name]?.includes(attribute)) return false;
    return attribute !== 'href' || isAllowedAddress(value.trim(), rules.linkSchemes);
  });
}

// Copies what the storefront would show, node by node, so that nothing else can come along.
// The editor shows every space, because browsers would write no-break spaces otherwise.
function copyAllowed(from, to, rules, isPre = false) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE)
      to.append(isPre ? node.data : node.data.replaceAll(/[ \t\r\n]+/g, ' '));
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(UNSHOWN)) continue;
    const isImage = node.localName === 'img';
    if (isImage && !new RegExp(rules.imageAddress, 'i').test(node.getAttribute('src'))) continue;
    if (!rules.tags.includes(node.localName)) {
      copyAllowed(node, to, rules, isPre);
      continue;
    }
    const copy = document.createElement(node.localName);
    for (const { name, value } of allowedAttributes(node, rules)) copy.setAttribute(name, value);
    copyAllowed(node, copy, rules, isPre || node.localName === 'pre');
    to.append(copy);
  }
  return to;
}

// Squire would put text that is in no paragraph into a div.
function wrapLooseText(fragment) {
  let paragraph;
  // The list is live, and its nodes move.
  for (const node of Array.from(fragment.childNodes)) {
    const isBlock =
      node.nodeType === Node.ELEMENT_NODE && node.matches(`${BLOCKS}, ul, ol, blockquote, hr, table, dl`);
    if (isBlock) paragraph = undefined;
    else {
      if (!paragraph && !node.textContent.trim() && node.nodeName !== 'IMG') continue;
      if (!paragraph) node.before((paragraph = document.createElement('p')));
      paragraph.append(node);
    }
  }
  return fragment;
}

// The elements with their attributes, in their order. Paragraphs and line breaks are what the editor is for.
function elementsOf(root) {
  return [...root.querySelectorAll('*')]
    .filter((element) => !element.matches('p, div, br') || element.attributes.length > 0)
    .map((element) => {
      const name = SAME[element.localName] ?? element.localName;
      const attributes = [...element.attributes].map((one) => `${one.name}="${one.value}"`).toSorted();
      return [name, ...attributes].join(' ');
    });
}

const lettersOf = (root) => root.textContent.replaceAll(/[\s\u200b]+/g, '');

// The names of what would be lost by editing, in the words of HTML; none: nothing would.
function lossOf(text, root) {
  const source = parse(text);
  const [before, after] = [elementsOf(source), elementsOf(root)];
  const fixed = FIXED.filter((name) => source.querySelector(name));
  const isSame = before.join('\n') === after.join('\n') && lettersOf(source) === lettersOf(root);
  if (isSame) return fixed;
  const lost = before
    .filter((element) => !after.includes(element))
    .map((element) => {
      const [name, attribute] = element.split(' ', 2);
      const isKept = attribute && after.some((one) => one.split(' ', 1)[0] === name);
      return isKept ? attribute.split('=', 1)[0] : name;
    });
  return [...new Set([...fixed, ...lost])].concat(lost.length === 0 && fixed.length === 0 ? ['…'] : []);
}

// One line for each block, because people read the source too.
function htmlOf(editor) {
  return editor
    .getHTML()
    .replaceAll(/(<\/(?:p|div|h[1-6]|ul|ol|li|blockquote|pre)>|<hr>)(?=<)/g, '$1\n')
    .replace(/(?:\s*<(p|div)><br><\/\1>)+$/, '');
}

function setHeading(editor, tag) {
  const isSet = editor.hasFormat(tag);
  editor.modifyBlocks((fragment) => {
    for (const block of fragment.querySelectorAll(BLOCKS)) {
      if (block.querySelector(`${BLOCKS}, ul, ol`)) continue;
      const changed = document.createElement(isSet ? 'p' : tag);
      changed.append(...block.childNodes);
      block.replaceWith(changed);
    }
    return fragment;
  });
}

const COMMANDS = {
  bold: (editor) => (editor.hasFormat('B') ? editor.removeBold() : editor.bold()),
  italic: (editor) => (editor.hasFormat('I') ? editor.removeItalic() : editor.italic()),
  heading2: (editor) => setHeading(editor, 'H2'),
  heading3: (editor) => setHeading(editor, 'H3'),
  list: (editor) => (editor.hasFormat('UL') ? editor.removeList() : editor.makeUnorderedList()),
  numberedList: (editor) => (editor.hasFormat('OL') ? editor.removeList() : editor.makeOrderedList()),
  quote: (editor) => (editor.hasFormat('BLOCKQUOTE') ? editor.removeQuote() : editor.increaseQuoteLevel()),
  undo: (editor) => editor.undo(),
  clear: (editor) => editor.removeAllFormatting(),
};
const FORMATS = {
  bold: 'B',
  italic: 'I',
  heading2: 'H2',
  heading3: 'H3',
  list: 'UL',
  numberedList: 'OL',
  quote: 'BLOCKQUOTE',
  link: 'A',
};

// The address as typed, with what people leave out; undefined: it is none.
function completeAddress(typed, schemes) {
  const text = typed.trim();
  if (text === '' || /\s/.test(text)) return undefined;
  if (/^[/#?]/.test(text) || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text)) {
    return isAllowedAddress(text, schemes) ? text : undefined;
  }
  return /^[^/@]+@[^/@]+$/.test(text) ? `mailto:${text}` : `https://${text}`;
}

// Asks for the address of a link in a dialog outside of the form, so that Enter does not send the form.
function askForLink(field, editor, rules) {
  const dialog = field.querySelector('template').content.firstElementChild.cloneNode(true);
  const input = dialog.querySelector('input');
  const problem = dialog.querySelector('[role="alert"]');
  const range = editor.getSelection();
  const container = range.startContainer;
  const link = (container.nodeType === Node.ELEMENT_NODE ? container : container.parentElement).closest('a');
  input.value = link?.getAttribute('href') ?? '';
  dialog.querySelector('[value="remove"]').hidden = !link;
  const finish = (action) => {
    const address = completeAddress(input.value, rules.linkSchemes);
    if (action === 'set' && !address) {
      problem.hidden = false;
      input.focus();
      return;
    }
    dialog.close();
    editor.focus();
    editor.setSelection(range);
    if (action === 'remove') editor.removeLink();
    if (action === 'set') {
      if (link) {
        range.selectNodeContents(link);
        editor.setSelection(range);
      }
      editor.makeLink(address);
    }
  };
  dialog.addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (button) finish(button.value);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    finish('set');
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

// The picture comes where the cursor was.
function insertPicture({ dataset, title }, editor) {
  const range = editor.getSelection();
  void openPicker(dataset.pictures, {
    title,
    closeText: dataset.close,
    onChoose: (address, text) => {
      editor.focus();
      editor.setSelection(range);
      editor.insertImage(address, { alt: text });
    },
  });
}

function enhance(field) {
  const textarea = field.querySelector('textarea');
  if (textarea.disabled) return;
  const rules = JSON.parse(field.dataset.richText);
  const toolbar = field.querySelector('[role="toolbar"]');
  const why = field.querySelector('[data-why]');
  const label = field.querySelector('label');
  const buttons = [...toolbar.querySelectorAll('button')];
  const source = toolbar.querySelector('[data-command="source"]');

  const root = document.createElement('div');
  root.className = 'rich-text-editor';
  root.setAttribute('role', 'textbox');
  root.setAttribute('aria-multiline', 'true');
  label.id ||= `${textarea.id}-label`;
  root.setAttribute('aria-labelledby', label.id);
  if (textarea.hasAttribute('aria-describedby')) {
    root.setAttribute('aria-describedby', textarea.getAttribute('aria-describedby'));
  }
  root.style.minHeight = `${Math.max(3, textarea.rows) * 1.5}rem`;
  textarea.before(toolbar, root);
  // A click on a picture would open handles that set its size in styles, which the storefront does not show.
  field.addEventListener(
    'click',
    (event) => event.target.matches('.rich-text-editor img') && event.stopPropagation(),
    true,
  );

  const editor = new Squire(root, {
    blockTag: 'P',
    addLinks: false,
    undo: { documentSizeThreshold: 50_000, undoLimit: 100 },
    sanitizeToDOMFragment: (html) =>
      wrapLooseText(copyAllowed(parse(html), document.createDocumentFragment(), rules)),
  });
  // Tab leaves the editor, as it leaves every field.
  editor.setKeyHandler('Tab', null).setKeyHandler('Shift-Tab', null);
  for (const key of ['Ctrl-k', 'Meta-k']) {
    editor.setKeyHandler(key, (_editor, event) => {
      event.preventDefault();
      askForLink(field, editor, rules);
    });
  }

  // The text that the editor shows, as it was, and as the editor writes it.
  let shown;
  let written;
  let isWriting = false;
  const load = () => {
    shown = textarea.value;
    editor.setHTML(shown);
    written = htmlOf(editor);
  };
  const showSource = (isSource) => {
    if (!isSource && textarea.value !== shown) load();
    textarea.hidden = !isSource;
    root.hidden = isSource;
    source.setAttribute('aria-pressed', String(isSource));
    for (const group of toolbar.querySelectorAll('.commands')) group.hidden = isSource;
    setStop(isSource ? source : buttons[0]);
  };
  const showLoss = () => {
    const loss = lossOf(shown, root);
    why.hidden = loss.length === 0;
    why.textContent = field.dataset.onlySource.replace('{elements}', loss.join(', '));
    return loss.length > 0;
  };

  editor.addEventListener('input', () => {
    const html = htmlOf(editor);
    textarea.value = html === written ? shown : html;
    isWriting = true;
    textarea.dispatchEvent(new Event('input', { bubbles: true }));
    isWriting = false;
    if (html !== written) [shown, written] = [html, html];
  });
  // Another script may fill the field.
  textarea.addEventListener('input', () => {
    if (!isWriting && textarea.hidden) load();
  });
  const showState = () => {
    for (const button of buttons) {
      const format = FORMATS[button.dataset.command];
      if (format) button.setAttribute('aria-pressed', String(editor.hasFormat(format)));
    }
  };
  for (const type of ['pathChange', 'select', 'input']) editor.addEventListener(type, showState);

  // One stop for the Tab key; the arrows walk from button to button.
  const setStop = (stop) => {
    for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  };
  toolbar.addEventListener('keydown', (event) => {
    const stops = buttons.filter((button) => !button.closest('[hidden]'));
    const at = stops.indexOf(document.activeElement);
    const next = {
      ArrowRight: stops[(at + 1) % stops.length],
      ArrowLeft: stops.at(at - 1),
      Home: stops[0],
      End: stops.at(-1),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    setStop(next);
    next.focus();
  });
  // The selection stays in the text.
  toolbar.addEventListener('mousedown', (event) => event.preventDefault());
  toolbar.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    const command = button?.dataset.command;
    if (!command) return;
    if (command === 'source') {
      showSource(textarea.hidden);
      (textarea.hidden ? root : textarea).focus();
      return;
    }
    editor.focus();
    if (command === 'link') askForLink(field, editor, rules);
    else if (command === 'picture') insertPicture(button, editor);
    else COMMANDS[command](editor);
  });
  label.addEventListener('click', () => !root.hidden && root.focus());

  toolbar.hidden = false;
  load();
  showState();
  showSource(showLoss());
}

for (const field of document.querySelectorAll('[data-rich-text]')) enhance(field);
