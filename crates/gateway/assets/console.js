// The page: token, stream and keys.

const TOKEN = 'toolfold-token';
let mostRecent = 200;

// The token follows the `#` of the address, which is not sent. It is then stored for this tab only.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return false;
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, '', location.pathname);
  return true;
}

function authorization() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function state(name, text) {
  byId('state').className = `state ${name}`;
  fill(byId('state'), text);
}

const TELLS = {
  hello(hello) {
    approvals.clock = hello.now_ms - Date.now();
    mostRecent = hello.most_recent;
    for (const table of Object.values(TABLES)) table.keep(() => false);
    byId('enter').hidden = true;
    byId('all').hidden = false;
    state('live', `live · ${hello.version}`);
    fill(byId('meter'), hello.meter
      ? `The column “list” compares the tools of the client with all tools in full, in tokens of ${hello.meter}.`
      : 'The column “list” compares the tools of the client with all tools in full, in bytes.');
    if (!hello.store) {
      fill(byId('approvals-note'), 'No policy is configured, so no call requires approval.');
      fill(byId('chain'), 'No policy is configured, so there are no records.');
    }
  },
  board: (board) => showBoard(board, mostRecent),
  approvals: showApprovals,
  audit: showAudit,
};

function tell(block) {
  let [name, data] = ['', ''];
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (data && TELLS[name]) TELLS[name](JSON.parse(data));
}

// Reads the stream to its end.
async function listen() {
  const response = await fetch('/console/events', { headers: { ...authorization(), Accept: 'text/event-stream' }, cache: 'no-store' });
  if (response.status === 401) return 'token';
  if (!response.ok) throw new Error((await response.text()).trim() || `status ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 'ended';
    buffer += value;
    const blocks = buffer.split('\n\n');
    buffer = blocks.pop();
    blocks.forEach(tell);
  }
}

async function stay() {
  let wait = 500;
  for (;;) {
    const began = Date.now();
    let why = 'disconnected';
    try {
      if (await listen() === 'token') {
        byId('all').hidden = true;
        byId('enter').hidden = false;
        byId('token').focus();
        return state('gone', sessionStorage.getItem(TOKEN) ? 'wrong token' : 'no token');
      }
    } catch (error) {
      if (!(error instanceof TypeError)) why = error.message;
    }
    wait = Date.now() - began > 10000 ? 500 : Math.min(wait * 2, 15000);
    state('gone', `${why}; the page is out of date. Reconnecting …`);
    await new Promise((done) => { setTimeout(done, wait); });
  }
}

byId('enter').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, byId('token').value.trim());
  byId('token').value = '';
  state('', 'connecting …');
  stay();
});

byId('help-button').addEventListener('click', () => byId('help').showModal());

const KEYS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  a: () => answer(approvals.selected, 'approve'), r: () => askReason(approvals.selected),
  '?': () => byId('help').showModal(),
};

document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLInputElement || byId('help').open;
  if (typing || event.repeat || event.ctrlKey || event.altKey || event.metaKey || byId('all').hidden) return;
  const act = KEYS[event.key];
  // Arrow keys scroll the page if there are no approvals.
  if (!act || (event.key.startsWith('Arrow') && approvals.cards.size === 0)) return;
  event.preventDefault();
  act();
});

window.addEventListener('hashchange', () => { if (takeToken()) location.reload(); });
takeToken();
stay();
