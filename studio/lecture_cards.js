// The slides of the Lecture page as cards: a picture, a heading and what is said, kept in this
// browser. Runs once, as the body of a function with `element` and `trigger` from Gradio.
// What it hands out is `window.studioLecture`: `deck(json)`, `script(json)`, `pace(json)`, `read()`,
// `empty()`.

const KEPT_AS = 'sonic-studio-lecture';
const frame = element.querySelector('.lecture-cards') || element;
const words = JSON.parse(frame.dataset.words);
const known = window.studioLecture || {cards: [], speed: 1, pause: 0.6, voice: ''};
const CHARACTERS_PER_SECOND = 16;
const PAUSE_MARK = /^\[pause\s+([\d.]+)\s*s?\]$/i;

function keep() {
  try {
    localStorage.setItem(KEPT_AS, known.read());
  } catch { /* a private window may have no room; the words are then lost with it */ }
}

function recall() {
  try {
    const cards = JSON.parse(localStorage.getItem(KEPT_AS) || '[]');
    return Array.isArray(cards) ? cards.map((card) => ({image: '', ...card})) : [];
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
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function seconds(card) {
  const text = card.text.trim();
  const pause = text.match(PAUSE_MARK);
  if (pause) return Number(pause[1]);
  return text ? text.length / CHARACTERS_PER_SECOND / known.speed + known.pause : 0;
}

function clock(total) {
  const whole = Math.round(total);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function refreshTimes() {
  let total = 0;
  const voice = known.voice || document.querySelector('#lecture-voice input')?.value || '';
  known.cards.forEach((card, index) => {
    total += seconds(card);
    const place = frame.querySelector(`[data-card="${index}"] .lecture-time`);
    const words = say('card_time', {time: clock(seconds(card)), voice});
    if (place) place.textContent = voice ? words : words.replace(/\s*·\s*$/, '');
  });
  const sum = frame.querySelector('.lecture-total');
  if (sum) sum.textContent = say('total', {count: known.cards.length, time: clock(total)});
}

function cardElement(card, index) {
  const number = index + 1;
  const heading = make('input', {
    type: 'text', value: card.heading, maxLength: 120, dir: 'auto',
    placeholder: say('heading'), 'aria-label': say('heading_of', {number}),
    oninput: (event) => { card.heading = event.target.value; keep(); },
  });
  const text = make('textarea', {
    value: card.text, rows: 5, dir: 'auto',
    placeholder: say('text'), 'aria-label': say('text_of', {number}),
    oninput: (event) => { card.text = event.target.value; refreshTimes(); keep(); },
  });
  const preview = make('button', {
    type: 'button', className: 'plain', 'aria-label': say('preview_of', {number}),
    onclick: () => {
      trigger('action', {action: 'preview', number: String(number), rows: known.read()});
      document.getElementById('lecture-preview')?.scrollIntoView({behavior: 'smooth', block: 'nearest'});
    },
  }, say('preview'));
  return make('li', {className: 'lecture-card', 'data-card': String(index)},
    picture(card, number),
    make('div', {className: 'lecture-words fields'}, heading, text,
      make('div', {className: 'lecture-line'}, make('span', {className: 'lecture-time'}), preview)));
}

function picture(card, number) {
  const words = say('slide', {number});
  if (!card.image) return make('span', {className: 'lecture-gone', textContent: words});
  return make('img', {src: `data:image/jpeg;base64,${card.image}`, alt: words, loading: 'lazy'});
}

function draw() {
  frame.replaceChildren();
  if (!known.cards.length) {
    frame.append(make('p', {className: 'hint'}, say('empty')));
    return;
  }
  frame.append(make('p', {className: 'lecture-total', role: 'status'}));
  frame.append(make('ol', {}, ...known.cards.map(cardElement)));
  refreshTimes();
}

known.deck = (json) => {
  if (!json) return;
  const slides = JSON.parse(json);
  known.cards = slides.map((slide, index) => {
    const before = known.cards[index];
    const kept = before && before.text.trim() ? before : {heading: slide.title, text: slide.note};
    return {image: slide.image, heading: kept.heading || slide.title, text: kept.text};
  });
  draw();
  keep();
};

known.script = (json) => {
  if (!json) return;
  JSON.parse(json).forEach((section, index) => {
    if (known.cards[index]) Object.assign(known.cards[index], section);
  });
  draw();
  keep();
};

known.empty = () => {
  known.cards = [];
  draw();
};

known.pace = (json) => {
  if (json) Object.assign(known, JSON.parse(json));
  refreshTimes();
};

known.read = () => JSON.stringify(known.cards.map(({heading, text}) => ({heading, text})));

if (!known.cards.length) known.cards = recall();
window.studioLecture = known;
draw();
if (window.studioLectureDeck) known.deck(window.studioLectureDeck);
