// The lines of `toolfold session`: types of requests and answers. Written by a test from `toolfold session --schema`.

/** A request: an object with one key, which names its kind. */
export type Request = {
  /** The name of the line's conversation. Required with `--many`, else not supported. */
  conversation?: string;
} & (
  /** The array to send next. It is recorded as shown to the model. */
  | {
    tools: true | {
      /** Count the array's tokens. */
      count?: boolean;
      /** Give the tools in neutral form, too. */
      entries?: boolean;
    };
  }
  /** One call that the model made. */
  | {
    call: Call;
    /** The key of the calls' message: an id that is unique for each assistant message. The same key always identifies the same message. */
    key?: string;
  }
  /** The calls of one assistant message, in the model's order. */
  | {
    calls: Array<Call>;
    /** The key of the calls' message: an id that is unique for each assistant message. The same key always identifies the same message. */
    key?: string;
  }
  /** One assistant message in the wire's format. */
  | {
    message: unknown;
    /** The key of the calls' message: an id that is unique for each assistant message. The same key always identifies the same message. */
    key?: string;
  }
  /** The result of a forwarded call, to be wrapped for the wire. */
  | {
    result: Result;
  }
  /** The host ran a forwarded call and wraps the result itself. */
  | {
    finished: Finished;
  }
  /** The host paused a forwarded call and will rebuild its message: the call is forwarded again. */
  | {
    pause: string;
  }
  /** Kills the script that the session runs for this call. The line of the call is answered when the script has ended. */
  | {
    cancel: string;
  }
  /** Approves the call that waits under this approval. */
  | {
    accept: string;
  }
  /** Rejects it. */
  | {
    reject: string | {
      /** The approval. */
      id: string;
      /** Why; the model reads it. */
      reason?: string | null;
    };
  }
  /** Resume with the decision that was made elsewhere. */
  | {
    resume: string;
  }
  /** The same as `resume`. */
  | {
    answered: string;
  }
  /** Activates a skill that a person named, also one that the model may not activate. */
  | {
    activate: Activate;
  }
  /** Approves a skill that requires approval, for the rest of the conversation. */
  | {
    approve_skill: string;
  }
  /** The messages of the next request, or that request: tools whose schemas they no longer contain count as closed. */
  | {
    seen: unknown;
  }
  /** The same for a host with another message format: the calls whose answers the model still sees in full. */
  | {
    seen_calls: Array<string>;
  }
  /** The schemas of all expanded tools, as text for the model. */
  | {
    redeliver: true;
  }
  /** A conversation of a sub-agent with only some of the tools, to restore in another session. */
  | {
    child: Child;
  }
  /** The state of the conversation, to store. */
  | {
    snapshot: true;
  }
  /** Restore a stored state. */
  | {
    restore: { [key: string]: unknown };
  }
  /** The arm and its reason, the expanded tools, waiting calls, notes. */
  | {
    explain: true;
  }
  /** All events. */
  | {
    log: true;
  }
  /** Only with `--many`: opens the conversation, with its own settings. Any other request opens it with those of the process. */
  | {
    start: true | {
      /** The arm. Default: that of the process. */
      arm?: string;
      /** The provider's API. Default: that of the process. */
      wire?: string;
      /** The model. Default: that of the process. */
      model?: string;
    };
  }
  /** Only with `--many`: removes the conversation from memory. Its log remains. */
  | {
    end: true;
  }
);

/** A call of a line. */
export type Call = {
  /** The provider's id of the call. Calls of other messages may have the same id. If it is empty, the conversation chooses one. */
  id: string;
  /** The name that the model wrote. */
  name: string;
  /** The arguments: an object, or its JSON text as in Chat Completions. Absent and null mean an empty object. */
  arguments?: unknown;
};

/** A tool's result. */
export type Result = {
  /** The call. */
  id: string;
  /** The text for the model; any other value is passed as JSON text. */
  content: unknown;
  /** Whether the tool failed. */
  is_error?: boolean;
};

/** The result of a forwarded call that the host wraps itself. */
export type Finished = {
  /** The call. */
  id: string;
  /** Whether it succeeded. */
  ok: boolean;
  /** Whether the tool never received it, because its server was unavailable. Only with `"ok": false`. */
  not_run?: boolean;
};

/** A skill that a person named. */
export type Activate = {
  /** The skill, or `name@scope` for a copy. */
  name: string;
  /** The arguments, as the person wrote them after the name. */
  arguments?: string | null;
};

/** A sub-agent's tools. */
export type Child = {
  /** The tools that it may use, by the names that the model sees or the host's. Without `expand_tools` all are shown in full. With `activate_skill` it has all skills, with `skill:NAME` one. */
  allowed: Array<string>;
};

export type ErrorBody = {
  /** The number of the line, from 1. */
  line: number;
  /** What is wrong. */
  message: string;
  /** How to fix it. */
  help: string;
};

/** An answer. Its keys identify its kind; only an answer to a failed request has `error`. */
export type Answer = {
  /** The conversation of the line. Only with `--many`; absent if the line names none. */
  conversation?: string;
} & (
  /** To `tools`. */
  | ToolsAnswer
  /** To `call`, `accept`, `reject`, `resume` and `answered`. */
  | OutcomeAnswer
  /** To `message`. */
  | MessageAnswer
  /** To `calls`. */
  | CallsAnswer
  /** To `result`. */
  | ResultAnswer
  /** To `finished`. */
  | FinishedAnswer
  /** To `pause`. */
  | PausedAnswer
  /** To `cancel`. */
  | CancelledAnswer
  /** To `activate`. */
  | ActivatedAnswer
  /** To `approve_skill`. */
  | ApprovedSkill
  /** To `seen` and `seen_calls`. */
  | SeenAnswer
  /** To `redeliver`. */
  | RedeliverAnswer
  /** To `child`. */
  | ChildAnswer
  /** To `snapshot`. */
  | SnapshotAnswer
  /** To `restore`. */
  | RestoredAnswer
  /** To `explain`. */
  | ExplainAnswer
  /** To `log`. */
  | LogAnswer
  /** To `start`. */
  | StartedAnswer
  /** To `end`. */
  | EndedAnswer
  /** To a line that is not a valid request, or that cannot be executed. Nothing has changed, unless the message says so. */
  | ErrorAnswer
);

export type ToolsAnswer = {
  /** The array for the request, in the wire's format. */
  tools: Array<unknown>;
  /** SHA-256 of the array as compact JSON, in lower-case hexadecimal digits. */
  digest: string;
  /** The array's tokens; null if they cannot be counted. Only present if `count` is requested. */
  tokens?: number | null;
  /** The meter that counted them. */
  meter?: string | null;
  /** The tools in neutral form and the array's order. Only present if `entries` is requested. */
  entries?: Array<Entry> | null;
  /** What the wire does not support, and notes about the tools. Only present in the first answer. */
  diagnostics?: Array<{ [key: string]: unknown }> | null;
};

/** A tool in neutral form. */
export type Entry = {
  /** The name under which the model sees it. */
  name: string;
  /** The description at its detail; empty if there is none. */
  description: string;
  /** The JSON Schema of the arguments at its detail. */
  parameters: unknown;
  /** Whether the provider must enforce the schema. Never set on a folded tool. */
  strict: boolean;
  /** The detail of the tool. */
  detail: string;
  /** Whether the provider keeps it out of the prompt until it is found. */
  deferred: boolean;
  /** Whether it is one of toolfold's meta-tools. */
  own: boolean;
};

export type OutcomeAnswer = {
  /** The number of the line that this answers, from 1. Only present if a script ran for it, so that later lines may have been answered before. */
  line?: number | null;
  /** The call. */
  id: string;
  outcome: Verdict;
  /** The name that the model wrote. */
  name: string;
  /** The tool's name at its host: never `call_tool`. Null if there is none. */
  target: string | null;
  /** The id of the pending approval. */
  approval?: string | null;
  /** The state of the approval, if a decision was requested and there is none. */
  state?: string | null;
  /** When the approval expires, in UTC. */
  until?: string | null;
  /** The arguments to run with, every digit as the model wrote it. */
  arguments?: unknown;
  /** The same as the JSON text that the model wrote. */
  arguments_json?: string | null;
  /** The text for the model, with the names that it sees. */
  content?: string | null;
  /** Whether to report the call to the model as failed. */
  is_error?: boolean | null;
  /** What to show the approver: target, canonical arguments, effects, undo, reason. */
  shown?: { [key: string]: unknown } | null;
  /** How a call that runs can be undone: `class`; `snapshot` (`id`, `digest`, `files`, `bytes`) if there is one; else `why` there is none. Absent without policy. */
  undo?: { [key: string]: unknown } | null;
  /** A line for the model to read before the result: it names parameters that were hidden. If the session wraps the result (`{"result": …}`), the line is already included. */
  note?: string | null;
  /** The reason of the outcome, for the host; the kind of a reply (`expanded`, `activated`, `invalid`, `shown`, `unknown_tool`, `loop`; `ran` if the session ran the script of a skill). */
  reason: string;
  /** The tools whose full schemas the content contains, with the names the model sees. */
  expanded: Array<string>;
  /** The same tools in full, for hosts that declare expanded tools themselves. */
  opened?: Array<Opened>;
  /** What the host must store about an activated skill: messages, preferences, hash. */
  activation?: { [key: string]: unknown } | null;
  /** Whole messages that inform the model that the call waits: for a host that continues without the decision. */
  append?: Array<unknown> | null;
  /** Arm, variant, and policy decision. */
  context: { [key: string]: unknown };
  /** The digest of the array to send next. */
  digest: string;
};

/** What the host must do. */
export type Verdict =
  /** Send `content` as the call's result. */
  | "reply"
  /** Run `target` with `arguments`, then report the result. */
  | "forward"
  /** The call waits for approval under `approval`: show `shown` to the person. */
  | "confirm"
  /** The call may not run: send `content` as its result. */
  | "refuse";

/** A tool whose full schema an answer contains. */
export type Opened = {
  /** The name that the model sees. */
  name: string;
  /** The full description. */
  description: string;
  /** The full JSON Schema of the arguments. */
  parameters: unknown;
};

export type MessageAnswer = {
  /** The number of the line that this answers, from 1. Only present if a script ran for it, so that later lines may have been answered before. */
  line?: number | null;
  /** The assistant message for the history: as received, or with what the provider would refuse replaced. */
  message: unknown;
  /** The outcome of each call, in the model's order. */
  outcomes: Array<OutcomeAnswer>;
  /** The answers to calls that toolfold answered, each in the wire's format: a message, an item, a block or a part. */
  messages: Array<unknown>;
  /** The same as whole messages, to append after the assistant message. */
  append: Array<unknown>;
  /** Notes about the message. Absent if there are none. */
  diagnostics?: Array<{ [key: string]: unknown }>;
  /** The digest of the array to send next. */
  digest: string;
};

export type CallsAnswer = {
  /** The number of the line that this answers, from 1. Only present if a script ran for it, so that later lines may have been answered before. */
  line?: number | null;
  /** The outcome of each call, in order. */
  outcomes: Array<OutcomeAnswer>;
  /** Notes about the message. Absent if there are none. */
  diagnostics?: Array<{ [key: string]: unknown }>;
  /** The digest of the array to send next. */
  digest: string;
};

export type ResultAnswer = {
  id: string;
  /** Whole messages to append. */
  messages: Array<unknown>;
};

export type FinishedAnswer = {
  id: string;
  /** Whether it succeeded, as reported. */
  finished: boolean;
};

export type PausedAnswer = {
  /** The call. */
  paused: string;
};

export type CancelledAnswer = {
  /** The call whose script is killed. */
  cancelled: string;
};

export type ActivatedAnswer = {
  /** The name of the active skill. */
  activated: string;
  /** The text to send as a message of the user. */
  text: string;
  /** What the host stores and may honor: requested tools, model, files, hash. */
  activation: { [key: string]: unknown };
};

export type ApprovedSkill = {
  /** The skill. */
  approved_skill: string;
};

export type SeenAnswer = {
  /** Always true. */
  seen: boolean;
  /** The tools that are expanded now, with the names the model sees. */
  expanded: Array<string>;
  /** The digest of the array to send next. */
  digest: string;
};

export type RedeliverAnswer = {
  /** The schemas of all expanded tools, as text for the model; null if there are none or the array contains them. */
  redeliver: string | null;
  /** The expanded tools, with the names the model sees. */
  expanded: Array<string>;
};

export type ChildAnswer = {
  /** The id of the sub-agent's conversation; empty if this one has none. */
  child: string;
  /** Its state, for `restore` in a session of its own. */
  snapshot: { [key: string]: unknown };
};

export type SnapshotAnswer = {
  snapshot: { [key: string]: unknown };
};

export type RestoredAnswer = {
  /** Always true. */
  restored: boolean;
  arm: string;
  /** The digest of the array to send next. */
  digest: string;
};

export type ExplainAnswer = {
  arm: string;
  /** The reason for that arm. */
  explain: string;
  /** The variant of the experiment that determined it. */
  variant: string | null;
  wire: string;
  model: string | null;
  /** The conversation's id; empty if it has none. */
  session: string;
  /** The expanded tools, with the names the model sees. */
  opened: Array<string>;
  /** The calls that wait for approval. */
  waiting: Array<WaitingCall>;
  /** The digest of the array to send next. */
  digest: string;
  /** Notes about the tools, and what the wire does not support. */
  diagnostics: Array<{ [key: string]: unknown }>;
};

export type WaitingCall = {
  approval: string;
  id: string;
  /** The tool's name at its host. */
  target: string;
};

export type LogAnswer = {
  /** Everything that happened since the conversation began, oldest first, in the format of a log file. */
  log: Array<{ [key: string]: unknown }>;
};

export type StartedAnswer = {
  /** Always true. */
  started: boolean;
  /** Whether the conversation existed before: it is open, or its log contains it. */
  resumed: boolean;
  arm: string;
  wire: string;
  model: string | null;
  /** The digest of the array to send next. */
  digest: string;
};

export type EndedAnswer = {
  /** Whether the conversation was open. */
  ended: boolean;
};

export type ErrorAnswer = {
  error: ErrorBody;
};
