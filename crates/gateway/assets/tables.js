// Tables of events and figures. A changed row is created anew; the others stay.

class Table {
  // `columns`: [heading, class, cell of a row]. `before`: whether newer rows come first.
  constructor(id, columns, none, before) {
    this.body = document.querySelector(`#${id} tbody`);
    this.columns = columns;
    this.rows = new Map();
    this.before = before;
    const table = byId(id);
    table.setAttribute('role', 'table'); // If rows are displayed as blocks, browsers drop their roles.
    table.setAttribute('aria-labelledby', `${id}-title`);
    const head = make('tr', '');
    head.setAttribute('role', 'row');
    for (const [heading, name] of columns) {
      const cell = make('th', name === 'number' ? 'number' : '', heading);
      cell.scope = 'col';
      cell.setAttribute('role', 'columnheader');
      head.append(cell);
    }
    document.querySelector(`#${id} thead`).append(head);
    this.none = make('tr', '', make('td', 'none', none));
    this.none.firstChild.colSpan = columns.length;
    this.body.append(this.none);
  }

  put(key, row, name) {
    const element = make('tr', name || '');
    element.setAttribute('role', 'row');
    for (const [heading, kind, cell] of this.columns) {
      const given = cell(row);
      const inner = make('span', '', ...(Array.isArray(given) ? given : [given]));
      const own = make('td', kind, inner);
      own.dataset.label = heading;
      own.setAttribute('role', 'cell');
      if (inner.textContent === '–') own.classList.add('blank');
      element.append(own);
    }
    const old = this.rows.get(key);
    if (old) old.replaceWith(element);
    else if (this.before) this.body.prepend(element);
    else this.body.append(element);
    this.rows.set(key, element);
    this.none.remove();
  }

  // Removes all rows with other keys.
  keep(stays) {
    for (const [key, element] of this.rows) {
      if (stays(key)) continue;
      element.remove();
      this.rows.delete(key);
    }
    if (this.rows.size === 0) this.body.append(this.none);
  }
}

const small = (text) => make('small', '', text);

const ANSWERS = {
  expanded: 'opened tools', activated: 'opened a skill', invalid: 'arguments corrected', shown: 'parameters shown',
  unknown_tool: 'unknown tool', loop: 'loop stopped', refused: 'refused', answered: 'answered',
  ran: 'script ran', read: 'result read', other: 'answered',
};

const VERDICTS = {
  off: 'no policy', not_asked: 'not checked', allow: 'allowed', allow_audited: 'allowed, audited',
  confirm: 'approved', deny: 'denied', other: '?',
};

const sum = (answers, ...kinds) => kinds.reduce((all, kind) => all + (answers[kind] || 0), 0);
const REPAIRS = ['invalid', 'shown', 'unknown_tool'];

// The size of the list relative to the list without folding.
function cost({ list, full }) {
  if (!list || !full) return list ? '…' : '–';
  const [own, whole, unit] = full.tokens !== null && list.tokens !== null
    ? [list.tokens, full.tokens, ''] : [list.bytes, full.bytes, ' bytes'];
  const share = whole > 0 ? Math.round((1 - own / whole) * 100) : 0;
  const saved = share > 0 ? `${share} % less` : share < 0 ? `${-share} % more` : 'the same';
  return [`${number(own)} of ${number(whole)}${unit}`, small(saved)];
}

// The tools of a server that differ from their pins.
function changed({ withheld, withheld_tools: tools }) {
  if (!withheld) return '–';
  const more = withheld > tools.length ? [small(`and ${number(withheld - tools.length)} more`)] : [];
  const each = tools.map(([tool, why]) => small(`${tool}: ${why}`));
  return [make('span', 'warn', plural(withheld, 'tool', 'tools')), ...each, ...more, small('toolfold pins diff')];
}

// The largest result of a tool, and what became of results above the limit.
function large({ large: { most_bytes: most, shortened, saved_tokens: saved, left_alone: alone } }) {
  if (!most && !shortened && !alone) return '–';
  const notes = [];
  if (shortened) notes.push(`${number(shortened)} shortened, ${number(saved)} tokens less`);
  if (alone) notes.push(`${number(alone)} left as they are`);
  return [most ? `up to ${number(most)} bytes` : number(shortened + alone), small(notes.join('; '))];
}

function outcome(row) {
  if (row.what === 'waits') return make('span', 'warn', `pending: ${row.approval}`);
  if (row.what === 'answered') return make('span', row.kind === 'refused' ? 'bad' : '', ANSWERS[row.kind]);
  return make('span', row.ok ? 'good' : 'bad', row.ok ? 'ok' : 'failed');
}

const TABLES = {
  servers: new Table('servers', [
    ['server', 'name', (row) => row.name],
    ['state', '', (row) => row.is_up === null ? 'not started' : row.is_up
      ? [make('span', 'good', 'up'), small(row.why ? `last failure: ${row.why}` : '')]
      : [make('span', 'bad', 'down'), small(row.why || '')]],
    ['conversations', 'number', (row) => number(row.up + row.down)],
    ['failures', 'number', (row) => number(row.failures)],
    ['restarts', 'number', (row) => number(row.restarts)],
    ['changed tools', 'name', changed],
  ], 'No server has been started.'),
  conversations: new Table('conversations', [
    ['conversation', 'name', (row) => [row.id, small(row.client || '')]],
    ['since', '', (row) => [time(row.began_ms), small(row.ended_ms === null ? '' : `ended ${time(row.ended_ms)}`)]],
    ['arm', '', (row) => row.arm ? [row.arm, small(row.reason || '')] : '–'],
    ['tools', 'number', (row) => number(row.tools)],
    ['list', 'number', cost],
    ['calls', 'number', (row) => [number(row.calls), small(row.failed ? `${number(row.failed)} failed` : '')]],
    ['opened', 'number', (row) => number(sum(row.answers, 'expanded'))],
    ['repaired', 'number', (row) => number(sum(row.answers, ...REPAIRS))],
    ['refused', 'number', (row) => number(sum(row.answers, 'refused'))],
  ], 'No client has connected yet.', true),
  tools: new Table('tools', [
    ['tool', 'name', (row) => [row.tool, small(row.server)]],
    ['calls', 'number', (row) => number(row.calls)],
    ['failed', 'number', (row) => row.failed ? make('span', 'bad', number(row.failed)) : '0'],
    ['median', 'number', (row) => duration(row.half_ms)],
    ['95th percentile', 'number', (row) => duration(row.most_ms)],
    ['large results', 'number', large],
  ], 'No tool has been called yet.'),
  recent: new Table('recent', [
    ['time', '', (row) => time(row.at_ms)],
    ['tool', 'name', (row) => [row.tool, small(row.server || 'the gateway')]],
    ['policy', '', (row) => row.verdict ? VERDICTS[row.verdict] : '–'],
    ['duration', 'number', (row) => row.took_ms === undefined ? '–' : duration(row.took_ms)],
    ['outcome', '', outcome],
    ['conversation', 'name', (row) => row.conversation],
  ], 'No call has been made yet.', true),
  audit: new Table('audit', [
    ['record', 'number', (row) => String(row.seq)],
    ['time', '', (row) => time(row.time_ms)],
    ['kind', '', (row) => row.kind],
    ['tool', 'name', (row) => [row.tool || '–', small(row.server), small(row.about)]],
    ['what', '', (row) => row.what || '–'],
    ['conversation', 'name', (row) => row.session || '–'],
  ], 'No records.', true),
};

// The client of each conversation, by conversation id.
const clients = new Map();

// Adds changes to the tables.
function showBoard(board, mostRecent) {
  const { totals, kept } = board;
  for (const row of board.servers) TABLES.servers.put(row.name, row);
  for (const row of board.conversations) TABLES.conversations.put(row.n, row, row.ended_ms === null ? '' : 'past');
  for (const row of board.conversations) {
    if (row.client) clients.set(row.id, row.client);
  }
  if (clients.size > 2 * kept.length + 100) clients.clear();
  const stays = new Set(kept);
  TABLES.conversations.keep((n) => stays.has(n));
  for (const row of board.tools) TABLES.tools.put(`${row.server}\n${row.tool}`, row);
  for (const row of board.recent) TABLES.recent.put(row.n, row);
  const numbers = [...TABLES.recent.rows.keys()];
  const oldest = numbers.length > mostRecent ? numbers[numbers.length - mostRecent] : 0;
  TABLES.recent.keep((n) => n >= oldest);
  const shown = [
    ['open now', totals.open], ['conversations', totals.conversations], ['calls', totals.calls], ['failed', totals.failed],
    ['tools opened', sum(totals.answers, 'expanded')], ['repaired', sum(totals.answers, ...REPAIRS)],
    ['refused', sum(totals.answers, 'refused')], ['required approval', totals.waited],
  ];
  const read = sum(totals.answers, 'read');
  if (read || totals.saved_tokens) shown.push(['results read', read], ['tokens not sent', totals.saved_tokens]);
  fill(byId('totals'), ...shown.map(([name, n]) => make('div', '', make('dt', '', name), make('dd', '', number(n)))));
}

function showAudit(audit) {
  if (audit === null) return;
  for (const row of audit.records) {
    if (!TABLES.audit.rows.has(row.seq)) TABLES.audit.put(row.seq, row);
  }
  const first = audit.records.length ? audit.records[0].seq : 0;
  TABLES.audit.keep((seq) => seq >= first);
  const { verified, last } = audit;
  const note = byId('chain');
  byId('faults').replaceChildren();
  if (audit.error) return void fill(note, make('span', 'bad', `Cannot read the trail: ${audit.error}`));
  if (!verified) return void fill(note, 'Checking the chain …');
  for (const fault of verified.faults) byId('faults').append(make('li', '', fault));
  const since = last > verified.head ? ` ${plural(last - verified.head, 'record', 'records')} not checked yet.` : '';
  const when = ` (${time(verified.at_ms)})`;
  if (verified.intact === null) fill(note, make('span', 'bad', 'The chain could not be checked'), when);
  else if (verified.intact) fill(note, make('span', 'good', '✓ The chain is intact'), `: ${plural(verified.records, 'record', 'records')}${when}.${since}`);
  else fill(note, make('span', 'bad', '✗ The chain is NOT intact'), `${when}: the store was modified.${since}`);
}

