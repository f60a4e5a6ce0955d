// Approvals: the pending calls, and the user's answers.

// Delay before a card accepts an answer after it appears or is selected by a key, so that it is
// read first.
const READ_MS = 600;

const approvals = {
  cards: new Map(), // by id: {row, element, since, busy}
  selected: null,
  clock: 0, // the gateway's time minus this page's
};

function showApprovals(given) {
  if (given === null) return;
  const { cards } = approvals;
  const ids = new Set(given.approvals.map((row) => row.id));
  let lost = null;
  for (const [id, card] of cards) {
    if (ids.has(id)) continue;
    if (approvals.selected === id) lost = { hadFocus: card.element.contains(document.activeElement), next: neighbour(id) };
    card.element.remove();
    cards.delete(id);
  }
  for (const row of given.approvals) {
    if (cards.has(row.id)) continue;
    const card = { row, since: Date.now(), busy: false };
    card.element = build(card);
    cards.set(row.id, card);
    byId('approvals').append(card.element);
  }
  if (lost) {
    approvals.selected = null;
    if (lost.next && cards.has(lost.next)) {
      cards.get(lost.next).since = Date.now(); // Selected automatically.
      select(lost.next, lost.hadFocus);
    }
  }
  const count = byId('waiting');
  fill(count, String(given.pending));
  count.classList.toggle('some', given.pending > 0);
  document.title = `${given.pending > 0 ? `(${given.pending}) ` : ''}toolfold gateway`;
  const note = byId('approvals-note');
  if (given.error) fill(note, make('span', 'bad', `Cannot read the approvals: ${given.error}`));
  else if (given.pending === 0) fill(note, 'No call waits for approval.');
  else if (given.pending > given.approvals.length) {
    fill(note, `The oldest ${given.approvals.length} are shown; toolfold approvals list shows all.`);
  } else note.replaceChildren();
}

function build(card) {
  const { row } = card;
  const element = make('article', 'card');
  element.setAttribute('role', 'listitem');
  element.tabIndex = -1;
  element.dataset.id = row.id;
  const left = make('p', 'left');
  const client = clients.get(row.session);
  const from = make('p', '', client ? `${client} in ${row.session}` : row.session);
  const heading = make('header', '', make('h3', '', row.target), make('p', '', row.id), from, left);
  const parts = make('dl', '');
  const part = (name, value) => parts.append(make('dt', '', name), make('dd', '', value));
  const lines = (texts) => make('ul', '', ...texts.map((text) => make('li', '', text)));
  if (row.tool !== row.target) part('Tool', row.tool);
  part('Arguments', make('pre', '', indented(row.arguments)));
  if (row.effects.length) part('Effects', lines(row.effects));
  const undo = row.undo_why ? `${row.undo}: ${row.undo_why}` : row.undo;
  part('Undo', make('span', row.undo === 'irreversible' ? 'risk' : '', undo));
  if (row.why.length) part('Reason', lines(row.why));
  if (row.cwd) part('Working directory', row.cwd);
  const yes = make('button', 'yes', 'Approve once ', make('kbd', '', 'a'));
  const no = make('button', 'no', 'Reject ', make('kbd', '', 'r'));
  yes.type = no.type = 'button';
  yes.disabled = !row.whole;
  yes.setAttribute('aria-label', `Approve ${row.id} once`);
  no.setAttribute('aria-label', `Reject ${row.id}`);
  yes.addEventListener('click', () => answer(row.id, 'approve'));
  no.addEventListener('click', () => askReason(row.id));
  const wrong = make('p', 'wrong');
  wrong.hidden = row.whole;
  if (!row.whole) fill(wrong, `This call is too long to be displayed here; run toolfold approvals why ${row.id}`);
  element.append(heading, parts, make('div', 'row', yes, no), wrong);
  element.addEventListener('focusin', () => { approvals.selected = row.id; });
  Object.assign(card, { left, wrong, yes, no });
  tick(card);
  return element;
}

function tick({ row, left }) {
  const rest = Math.max(0, row.expires_ms - Date.now() - approvals.clock);
  const [minutes, seconds] = [Math.floor(rest / 60000), Math.floor(rest / 1000) % 60];
  fill(left, rest > 0 ? `${minutes}:${String(seconds).padStart(2, '0')} left` : 'expired');
}
setInterval(() => approvals.cards.forEach(tick), 1000);

function neighbour(id) {
  const ids = [...approvals.cards.keys()];
  const at = ids.indexOf(id);
  return ids[at + 1] || ids[at - 1] || null;
}

function select(id, focus = true) {
  const card = approvals.cards.get(id);
  if (!card) return;
  approvals.selected = id;
  card.since = Math.max(card.since, Date.now() - READ_MS / 2);
  if (focus) {
    card.element.focus();
    card.element.scrollIntoView({ block: 'nearest' });
  }
}

function move(by) {
  const ids = [...approvals.cards.keys()];
  if (!ids.length) return;
  const at = ids.indexOf(approvals.selected);
  select(ids[at < 0 ? (by > 0 ? 0 : ids.length - 1) : Math.min(ids.length - 1, Math.max(0, at + by))]);
}

// Replaces the buttons with a field for the reason.
function askReason(id) {
  const card = approvals.cards.get(id);
  if (!card || card.busy || card.form) return;
  const input = make('input', '');
  input.maxLength = 1000;
  input.placeholder = 'Reason for the model (optional)';
  input.setAttribute('aria-label', `Reason for rejecting ${id}`);
  const send = make('button', 'no', 'Reject');
  const back = make('button', '', 'Back');
  back.type = 'button';
  card.form = make('form', 'row', input, send, back);
  const leave = () => {
    card.form.replaceWith(card.yes.parentElement || card.buttons);
    card.form = null;
    card.element.focus();
  };
  card.buttons = card.yes.parentElement;
  card.buttons.replaceWith(card.form);
  back.addEventListener('click', leave);
  input.addEventListener('keydown', (event) => { if (event.key === 'Escape') leave(); });
  card.form.addEventListener('submit', (event) => {
    event.preventDefault();
    answer(id, 'reject', input.value);
  });
  input.focus();
}

async function answer(id, how, reason) {
  const card = approvals.cards.get(id);
  if (!card || card.busy || Date.now() - card.since < READ_MS) return;
  if (how === 'approve' && !card.row.whole) return;
  card.busy = card.yes.disabled = card.no.disabled = true;
  card.wrong.hidden = true;
  const body = { digest: card.row.digest };
  if (reason) body.reason = reason;
  try {
    const response = await fetch(`/console/approvals/${encodeURIComponent(id)}/${how}`, {
      method: 'POST', headers: { ...authorization(), 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
    say(how === 'approve' ? `${id} approved; it runs when the model repeats the call` : `${id} rejected`);
  } catch (why) {
    fill(card.wrong, `Not answered: ${why.message}`);
    card.wrong.hidden = false;
    say(`${id} was not answered`);
  }
  card.busy = card.no.disabled = false;
  card.yes.disabled = !card.row.whole;
}

