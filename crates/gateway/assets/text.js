// Texts. They may come from servers and models: each is inserted as text, never as markup, with
// invisible characters made visible.

// Characters that are invisible or reorder text, and the gateway's escapes for them.
const UNSEEN = /(?!\n)\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|\p{Cn}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}|[\u00a0\u2000-\u200a\u202f\u205f\u2800\u3000]|\\u\{[0-9a-f]{1,6}\}/gu;

const byId = (id) => document.getElementById(id);

// Appends a text to an element, with marks for invisible characters.
function write(element, text) {
  const whole = String(text);
  let done = 0;
  for (const found of whole.matchAll(UNSEEN)) {
    element.append(whole.slice(done, found.index));
    const chip = document.createElement('span');
    chip.className = 'unseen';
    chip.textContent = found[0].startsWith('\\u{') ? found[0] : `\\u{${found[0].codePointAt(0).toString(16)}}`;
    element.append(chip);
    done = found.index + found[0].length;
  }
  element.append(whole.slice(done));
  return element;
}

// Creates an element with a class and children: elements or texts.
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  for (const child of children) {
    if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined) write(element, child);
  }
  return element;
}

// Replaces the children of an element.
function fill(element, ...children) {
  element.replaceChildren();
  for (const child of children) {
    if (child instanceof Node) element.append(child);
    else write(element, child);
  }
  return element;
}

// JSON with a line for each member. The text is not parsed, so every digit stays.
function indented(json) {
  if (json.length < 60) return json;
  let [out, depth, inside] = ['', 0, false];
  const line = () => `\n${'  '.repeat(Math.min(depth, 20))}`;
  for (let at = 0; at < json.length; at += 1) {
    const c = json[at];
    if (inside) {
      out += c;
      if (c === '\\') out += json[at += 1] ?? '';
      else if (c === '"') inside = false;
    } else if ((c === '{' || c === '[') && json[at + 1] !== '}' && json[at + 1] !== ']') {
      depth += 1;
      out += c + line();
    } else if ((c === '}' || c === ']') && !'{['.includes(json[at - 1])) {
      depth -= 1;
      out += line() + c;
    } else {
      inside = c === '"';
      out += c === ',' ? c + line() : c === ':' ? ': ' : c;
    }
  }
  return out;
}

const number = (n) => Number(n).toLocaleString('en');

function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  if (ms < 3600000) return `${Math.round(ms / 60000)} min`;
  return `${(ms / 3600000).toFixed(1)} h`;
}

// The time of day, with the date if it is not today.
function time(ms) {
  const then = new Date(ms);
  const day = then.toDateString() === new Date().toDateString() ? '' : `${then.toLocaleDateString('sv')} `;
  return day + then.toLocaleTimeString('sv');
}

const plural = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

function say(text) {
  fill(byId('said'), text);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => byId('said').replaceChildren(), 6000);
}

