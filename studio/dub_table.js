// The table of the Dub page: rows that a person adds, fills and removes, kept in this browser.
// Runs once, as the body of a function with `element`, `trigger` and `upload` from Gradio.
// What it hands out is `window.studioDub`: `read()`, `all()`, `add(json)`, `draft(json)`,
// `empty()`, `voices(json)`, `says()`.

const KEPT_AS = 'sonic-studio-dub';
const frame = element.querySelector('.dub-table') || element;
const words = JSON.parse(frame.dataset.words);
const ours = JSON.parse(frame.dataset.languages);
const most = Number(frame.dataset.most);
const tongue = document.documentElement.lang || 'en';
const known = window.studioDub || {rows: [], speakers: []};
const blank = () => ({name: '', language: '', voice: '', text: '', audio: null, speed: ''});

function filled(row) {
  return Boolean(row.text.trim() || row.audio);
}

function keep() {
  try {
    localStorage.setItem(KEPT_AS, JSON.stringify(known.rows));
  } catch { /* a private window may have no room; the table is then lost with it */ }
  tell();
}

// The button below waits for a row that says something.
function tell() {
  if (known.told === known.says()) return;
  known.told = known.says();
  trigger('input');
}

function recall() {
  try {
    const rows = JSON.parse(localStorage.getItem(KEPT_AS) || '[]');
    return Array.isArray(rows) ? rows.map((row) => ({...blank(), ...row})) : [];
  } catch {
    return [];
  }
}

function say(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== 'list') made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const base = (tag) => tag.split('-')[0];

// Browsers have no name for some languages that voices speak; the frame brings ours.
function languageName(tag) {
  return window.studioLanguageName(tag) || ours[tag.toLowerCase()] || tag;
}

function languageChoices(chosen) {
  const natural = new Set();
  const tags = new Set(chosen ? [chosen] : []);
  for (const voice of known.speakers) {
    for (const tag of voice.languages) {
      tags.add(base(tag));
      if (voice.natural) natural.add(base(tag));
    }
  }
  const named = [...tags].map((tag) => [languageName(tag), tag]);
  named.sort((one, other) =>
    natural.has(other[1]) - natural.has(one[1]) || one[0].localeCompare(other[0], tongue));
  return [[say('any_language'), ''], ...named];
}

function voiceChoices(language, chosen) {
  const fitting = known.speakers.filter((voice) =>
    voice.id === chosen || (language && voice.languages.some((tag) =>
      tag === language || base(tag) === language || tag === base(language))));
  const named = fitting.map((voice) =>
    [voice.natural ? voice.name : say('robotic', {name: voice.name}), voice.id]);
  if (chosen && !fitting.some((voice) => voice.id === chosen)) named.push([chosen, chosen]);
  return [[say('best'), ''], ...named];
}

function select(label, choices, value, onchange) {
  const options = choices.map(([text, chosen]) => make('option', {value: chosen, textContent: text}));
  const made = make('select', {'aria-label': label, onchange}, ...options);
  made.value = value;
  return made;
}

function rowCard(row, index) {
  const number = index + 1;
  const label = (key) => say('of_row', {number, what: words[key]});
  const voice = select(label('voice'), voiceChoices(row.language, row.voice), row.voice, (event) => {
    row.voice = event.target.value;
    keep();
  });
  const language = select(
    label('language'), languageChoices(row.language), row.language, (event) => {
      row.language = event.target.value;
      row.voice = '';
      const fresh = voiceChoices(row.language, '').map(([text, value]) =>
        make('option', {value, textContent: text}));
      voice.replaceChildren(...fresh);
      keep();
    });
  const name = make('input', {
    type: 'text', value: row.name, maxLength: 200, placeholder: words.name, dir: 'auto',
    'aria-label': label('name'),
    oninput: (event) => { row.name = event.target.value; keep(); },
  });
  const text = make('textarea', {
    value: row.text, rows: 2, dir: 'auto', placeholder: words[row.audio ? 'its_words' : 'text'],
    'aria-label': label('text'),
    oninput: (event) => { row.text = event.target.value; keep(); },
    onpaste: (event) => pasteCells(event, index),
  });
  const remove = make('button', {
    type: 'button', className: 'plain', textContent: words.remove,
    'aria-label': label('remove'), onclick: () => removeRow(index),
  });
  const card = make('li', {className: 'dub-row fields'},
    make('span', {className: 'dub-number', textContent: number, 'aria-hidden': 'true'}),
    language, voice, name, text,
    make('div', {className: 'dub-recording'}, ...recording(row, label)), remove);
  card.setAttribute('aria-label', say('row', {number}));
  return card;
}

function recording(row, label) {
  if (row.audio) {
    const drop = make('button', {
      type: 'button', className: 'plain', textContent: words.drop_recording,
      'aria-label': label('drop_recording'),
      onclick: () => { row.audio = null; keep(); draw(); },
    });
    return [make('span', {className: 'dub-file', textContent: row.audio.name, dir: 'auto'}), drop];
  }
  const state = make('span', {role: 'status'});
  const input = make('input', {
    type: 'file', accept: 'audio/*,video/*', className: 'spoken', 'aria-label': label('recording'),
    onchange: async (event) => {
      const file = event.target.files[0];
      if (!file) return;
      state.textContent = words.uploading;
      try {
        const {path} = await upload(file);
        row.audio = {path, name: file.name};
        keep();
        draw();
      } catch {
        state.textContent = words.upload_failed;
      }
    },
  });
  return [make('label', {className: 'plain dub-upload'}, input, words.recording), state];
}

// Cells of a spreadsheet have tabs between them; a text of one cell is left to the browser.
function pasteCells(event, index) {
  const pasted = event.clipboardData?.getData('text/plain') || '';
  if (!/\t/.test(pasted)) return;
  event.preventDefault();
  if (!filled(known.rows[index])) known.rows.splice(index, 1);
  trigger('action', {action: 'paste', text: pasted});
}

// What was removed last can be brought back, until something else is removed.
function undo() {
  known.rows = JSON.parse(known.before);
  known.before = '';
  keep();
  draw();
  frame.querySelector('.dub-add').focus();
}

function removeRow(index) {
  known.before = JSON.stringify(known.rows);
  known.rows.splice(index, 1);
  keep();
  draw();
  const buttons = frame.querySelectorAll('.dub-row > button');
  (buttons[Math.min(index, buttons.length - 1)] || frame.querySelector('.dub-add')).focus();
}

function addRow() {
  const last = known.rows[known.rows.length - 1];
  known.rows.push({...blank(), name: last ? last.name : ''});
  keep();
  draw();
  frame.querySelector('.dub-row:last-child select').focus();
}

function clearRows() {
  known.before = JSON.stringify(known.rows);
  known.rows = [blank()];
  keep();
  draw();
  frame.querySelector('.dub-row select').focus();
}

function draw() {
  if (!known.rows.length) known.rows = [blank()];
  const add = make('button', {
    type: 'button', className: 'plain dub-add', textContent: words.add, onclick: addRow,
    disabled: known.rows.length >= most,
  });
  const clear = make('button', {
    type: 'button', className: 'plain', textContent: words.clear, onclick: clearRows,
  });
  const back = known.before ? [make('button', {
    type: 'button', className: 'plain', textContent: words.undo, onclick: undo,
  })] : [];
  const note = known.rows.length > most ? say('too_many', {limit: most}) : '';
  const focused = document.activeElement;
  frame.replaceChildren(
    make('ol', {}, ...known.rows.map(rowCard)),
    make('div', {className: 'dub-buttons'}, add, clear, ...back),
    make('p', {className: 'note', role: 'status', textContent: note}));
  if (!focused.isConnected) keepFocus(focused);
  tell();
}

// Voices, drafts and recordings come while somebody types or is about to press a button: what is
// drawn anew keeps the focus and the cursor.
function keepFocus(old) {
  const called = (one) => `${one.tagName} ${one.ariaLabel || one.textContent}`;
  const controls = [...frame.querySelectorAll('button, input, select, textarea')];
  const again = controls.find((one) => called(one) === called(old));
  again?.focus();
  if (again && old.selectionStart != null) {
    again.setSelectionRange(old.selectionStart, old.selectionEnd);
  }
}

// The dubs below come with English names of languages; here they get those of the page.
function nameLanguages() {
  for (const place of document.querySelectorAll('#dub-batches [data-tag]')) {
    const name = languageName(place.dataset.tag);
    if (place.textContent !== name) place.textContent = name;
  }
}

known.says = () => known.rows.some(filled);
known.read = () => JSON.stringify(known.rows.filter((row) => filled(row) || row.name.trim()));
known.all = () => JSON.stringify(known.rows);
known.add = (json) => {
  if (!json) return;
  const fresh = JSON.parse(json).map((row) => ({...blank(), ...row}));
  known.rows = [...known.rows.filter(filled), ...fresh];
  keep();
  draw();
};
known.draft = (json) => {
  if (!json) return;
  const drafts = JSON.parse(json);
  for (const row of known.rows) {
    if (!filled(row)) row.text = drafts[row.language] || '';
  }
  keep();
  draw();
};
known.empty = () => {
  known.rows = [blank()];
  draw();
};
known.voices = (json) => {
  known.speakers = JSON.parse(json || '[]');
  draw();
};
known.rows = known.rows.length ? known.rows : recall();
if (window.studioDubVoices) known.speakers = JSON.parse(window.studioDubVoices);
window.studioDub = known;
draw();
const dubs = document.getElementById('dub-batches');
if (dubs) new MutationObserver(nameLanguages).observe(dubs, {childList: true, subtree: true});
nameLanguages();
