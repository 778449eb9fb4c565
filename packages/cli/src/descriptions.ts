/** Descriptions of all commands for help and argument parsing. Data only. */
import type { CommandDescription, CommandGroup, Options } from "./command.ts"
import { DOCTOR, PROXY, WRAP } from "./proxy/descriptions.ts"
import { MOVE, STORE, SYNC } from "./store/descriptions.ts"

const describe = <const O extends Options>(description: CommandDescription<O>): CommandDescription<O> => description

export const DEMO = describe({
  name: "demo",
  about: "watch an agent outgrow a small window; no key, no network",
  more: [
    `A simulated model works on a scratch copy of a repository, through the real agent loop, the real tools and the official
SDK. You see the window fill up. Strata offloads large results, clears old ones, takes notes, and compacts when the window is
full. In a larger window, the agent does more with each request.`,
    `A second conversation follows, a simulated day later. It starts empty, recalls what the first one learned, and uses it.`,
    `At the end, one table compares the same work with and without Strata, and a few commands show what to try next. The demo
touches nothing outside the copy and removes it afterwards. It copies this repository when you run it from a checkout, and the
current directory otherwise.`,
  ],
  options: {
    turns: { kind: "number", value: "N", about: "stop after about N turns (default 80)", min: 1, max: 10_000 },
    seed: { kind: "number", value: "N", about: "let the agent take different steps (default 2)", min: 0 },
    window: {
      kind: "number",
      value: "N",
      about: "size of the model's window in tokens (default 60000)",
      min: 20_000,
      max: 2_000_000,
    },
    task: { kind: "text", value: "TEXT", about: "give the agent your own task" },
    fast: { kind: "flag", about: "run at full speed, without pauses" },
    keep: { kind: "flag", about: "keep the scratch copy and the journal" },
  },
  examples: [
    ["strata demo", "takes about a minute"],
    ["strata demo --window 200000 --turns 150", "a window of the usual size, and more work"],
    ["strata demo --turns 120 --seed 3 --keep", "run longer, and keep the journal for strata inspect"],
  ],
})

export const CHAT = describe({
  name: "chat",
  about: "talk to an agent that works in this directory",
  options: {},
  examples: [
    ["strata chat", "start a new conversation"],
    ["strata chat --continue", "continue where you left off"],
    ["strata chat --resume", "choose a conversation from a list"],
    ["strata chat --mode plan --model claude-sonnet-5-5", "look and plan only, with another model"],
  ],
})

export const RUN = describe({
  name: "run",
  about: "give the agent one task and print its answer; for scripts",
  operands: { value: '"TASK"', min: 0, max: Number.POSITIVE_INFINITY },
  options: {},
  examples: [
    ['strata run "What does this project do?"', "print the answer"],
    ['strata run "Fix the test" --mode accept-edits --allow "Bash(npm test:*)"', "allow edits, and this one command"],
    ['strata run "Now the linter" --continue --max-turns 20', "continue the newest conversation"],
    ['strata run "/compact keep the port numbers" --continue', "compact it"],
    ["git diff | strata run --json > events.jsonl", "read the task from a pipe"],
  ],
})

export const COMPACT = describe({
  name: "compact",
  about: "make room in a conversation: summarise it, or clear a part",
  more: [
    "Everything stays in the journal. The next request begins with a summary and facts from the journal. strata undo reverts it.",
    "HINT says what the summary should focus on. --prune, --tool and --images write no summary and ask no model: they clear old results or images.",
    "HANDLE names a message, as the agent sees it in its context, or as strata recall prints it.",
  ],
  operands: { value: "[HINT]", min: 0, max: 1 },
  options: {
    conversation: {
      kind: "text",
      value: "ID",
      about: "conversation id or unique prefix (default: the newest)",
    },
    "dry-run": { kind: "flag", about: "show what would happen and change nothing" },
    edit: { kind: "flag", about: "change the summary in your $EDITOR before it takes effect; an empty text cancels" },
    before: { kind: "text", value: "HANDLE", about: "summarise only what comes before this message" },
    after: { kind: "text", value: "HANDLE", about: "summarise only what comes after this message" },
    prune: { kind: "flag", about: "keep every message; clear only results that later work has made obsolete" },
    tool: { kind: "text", value: "NAME", about: "clear only the old results of this tool" },
    keep: {
      kind: "number",
      value: "N",
      min: 0,
      about: "with --tool: number of its newest results to keep (default 3)",
    },
    images: { kind: "flag", about: "clear only old images and documents" },
    json: { kind: "flag", about: "print one JSON event per line" },
  },
  examples: [
    ["strata compact --dry-run", "show the plan and its cost"],
    ['strata compact --edit "keep the port numbers"', "write the summary, then change it yourself"],
    ["strata compact --prune --dry-run", "how much old reads, failed calls and repeats take"],
    ["strata compact --tool Bash --keep 2", "clear the output of old commands"],
  ],
})

export const UNDO = describe({
  name: "undo",
  about: "undo a compaction or a manual clearing",
  more: [
    "The next request is the one from before the compaction, byte for byte. Messages that came later follow it, unless you drop them.",
    "Call it again to undo the decision before that. The journal keeps everything either way.",
  ],
  options: {
    conversation: {
      kind: "text",
      value: "ID",
      about: "conversation id or unique prefix (default: the newest)",
    },
    "drop-later": { kind: "flag", about: "drop the messages that came later" },
    "dry-run": { kind: "flag", about: "show what would happen and change nothing" },
    json: { kind: "flag", about: "print as JSON" },
  },
  examples: [
    ["strata undo --dry-run", "show what would be restored"],
    ["strata undo", "restore what the last compaction summarised"],
    ["strata undo --drop-later", "also drop the later messages"],
  ],
})

const FORMATS_READ =
  "Reads transcripts of Claude Code, Codex, pi, opencode, OpenHands, SWE-agent, Copilot CLI and Gemini CLI, and Strata's own journals."

export const USAGE = describe({
  name: "usage",
  about: "report what all conversations on this machine cost",
  more: [
    "Finds the conversations of Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI and Strata. It reads them and never writes to them. It keeps an index, so the next time it reads only new and changed files.",
    "It opens a page in your browser and continues reading in the background. Without a browser it prints tables, as with --text. Nothing leaves this machine.",
  ],
  options: {
    text: { kind: "flag", about: "print tables in the terminal" },
    summary: { kind: "flag", about: "print one sentence" },
    json: { kind: "flag", about: "print everything as JSON" },
    search: { kind: "text", value: "WORDS", about: "list the conversations that contain these words" },
    dir: {
      kind: "list",
      value: "DIR",
      about: "also search this directory for transcripts of any format; repeatable",
    },
    project: { kind: "text", value: "DIR", about: "only conversations of this working directory" },
    since: { kind: "text", value: "DATE", about: "only costs since this day, such as 2026-01-31" },
    replay: {
      kind: "number",
      value: "SECONDS",
      about:
        "time to compute Strata's savings (default 10, or up to 60 until the sample is large enough; 0: use earlier results)",
      min: 0,
      max: 86_400,
    },
    port: {
      kind: "number",
      value: "N",
      about: "show the page on this port (default: a free one)",
      min: 1,
      max: 65_535,
    },
    "no-open": { kind: "flag", about: "show the page, print its address and open no browser" },
    share: { kind: "flag", about: "print a report without names, paths or contents, and write a picture of it" },
    picture: {
      kind: "text",
      value: "FILE",
      about: "SVG file for the picture (with --share: strata-usage.svg)",
    },
  },
  examples: [
    ["strata usage", "all conversations on this machine"],
    ["strata usage --search 'flaky login test'", "find a conversation of any agent"],
    ["strata usage --summary --since 2026-01-01", "one sentence about this year"],
    ["strata usage --dir ./runs --json | jq .cache.byCause", "more places, for another program"],
  ],
})

/** Option of the commands that show conversations or memories. */
const OWNER = {
  kind: "text",
  value: "NAME",
  about: "only what a program stored here for this owner, as in memory: { owner }",
} as const

export const INSPECT = describe({
  name: "inspect",
  about: "show where a conversation's context and money went",
  more: [
    `${FORMATS_READ} It never writes to them.`,
    'Without a file it prints the same as "strata usage --text"; with a directory, the same for its files.',
    "Instead of a file, give the id of a session or conversation, or a prefix of it.",
  ],
  operands: { value: "FILE…", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    owner: OWNER,
    layers: { kind: "flag", about: "also show what layers 1 and 2 would have saved" },
    html: { kind: "text", value: "FILE", about: "also write one page with charts, for any browser, also offline" },
    json: { kind: "flag", about: "print everything as JSON" },
  },
  examples: [
    ["strata inspect ~/.claude/projects/*/*.jsonl", "one report per file, then a table of all"],
    ["strata inspect --layers session.jsonl", "replay it under four policies"],
    ["strata inspect --json session.jsonl | jq .conversations[0].cache", "feed another program"],
  ],
})

/** Options for the assumptions of a replay. */
const REPLAY_OPTIONS = {
  model: { kind: "text", value: "NAME", about: "assume this model, with its prices, cache and window" },
  window: {
    kind: "number",
    value: "N",
    about: "the window in tokens (default: 200000, or the recording's if it was larger)",
    min: 20_000,
    max: 10_000_000,
  },
  "summary-seconds": {
    kind: "number",
    value: "N",
    about: "how many seconds a summary takes (default 20)",
    min: 0,
    max: 3_600,
  },
  generate: {
    kind: "number",
    value: "N",
    about: "replay generated work of about N tokens, without a file",
    min: 1_000,
    max: 20_000_000,
  },
} as const satisfies Options

const POLICY_LIST = {
  title: "Policies",
  rows: [
    ["none", "sends everything, also beyond the window"],
    ["masking", "shows only the last 10 tool results"],
    ["hybrid", "masking, then a summary when the window is full"],
    ["clear-3", "the server clears all but 3 results at 100K tokens"],
    ["claude-style", "fixed thresholds: clears by age, compacts when the window is nearly full"],
    ["fixed-167k", "the same, and compacts at 167K tokens in every window"],
    ["claude-idle", "the same, and in a long pause, before an hour's cache expires"],
    ["prune-40k", "protects two turns and 40K tokens of results, then summarises"],
    ["tail-20k", "summarises at the limit and keeps the newest 20K tokens"],
    ["half-30", "at half of the window, keeps the newest 30%"],
    ["user-words", "at 90%, keeps your messages and a summary, no tool results"],
    ["strata", "the layers and the planner of this program, as the chat runs them"],
    ["optimum", "a bound that knows the future; no one can run it live"],
  ],
} as const

export const DASHBOARD = describe({
  name: "dashboard",
  about: "watch running conversations in the browser",
  operands: { value: "[CONVERSATION]", min: 0, max: 1 },
  more: [
    `Shows conversations as pages, this project's first: what each cost, the context over time, every compaction and what it kept,
the cache, the messages, sub-agents and memories. Changes in a running chat appear within a second.`,
    `The server listens on this machine only, and its URL contains a secret. Nothing leaves the machine. Press Ctrl-C to end it.`,
  ],
  options: {
    owner: OWNER,
    port: { kind: "number", value: "N", about: "listen on this port (default: a free one)", min: 1, max: 65_535 },
    "no-open": { kind: "flag", about: "print the address and do not open a browser" },
  },
  examples: [
    ["strata dashboard", "conversations with Strata, live"],
    ["strata dashboard 3f2a", "the one whose id begins with 3f2a"],
  ],
})

export const REPLAY = describe({
  name: "replay",
  about: "replay a recorded conversation: cost, cache, losses",
  more: [
    `${FORMATS_READ} No model is asked: the replay computes what each request would have sent and cost.`,
    "Answers and pauses stay as recorded. If an answer uses content that the policy has removed, the replay charges for fetching it again.",
  ],
  operands: { value: "FILE…", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    policy: { kind: "text", value: "NAME", about: "one of the policies below (default strata)" },
    ...REPLAY_OPTIONS,
    turns: { kind: "flag", about: "also list every request" },
    html: { kind: "text", value: "FILE", about: "also write one page with charts, for any browser, also offline" },
    json: { kind: "flag", about: "print everything as JSON" },
  },
  sections: [POLICY_LIST],
  examples: [
    ["strata replay session.jsonl", "what Strata would have done, and what it would have cost"],
    ["strata replay --policy claude-style --turns session.jsonl", "another policy, turn by turn"],
    ["strata replay --generate 400000 --window 100000", "without a recording"],
  ],
})

export const COMPARE = describe({
  name: "compare",
  about: "compare policies on recorded conversations",
  more: [
    `${FORMATS_READ} Each conversation runs through every policy, as strata replay does it.`,
    "The scorecard shows cost, cache, peak context, content that stayed in view or in reach, and time. The references none, claude-style and optimum always run.",
  ],
  operands: { value: "FILE…", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    policies: {
      kind: "text",
      value: "A,B",
      about: "only these policies and the references (default: all of those below)",
    },
    ...REPLAY_OPTIONS,
    html: { kind: "text", value: "FILE", about: "also write one page with charts, for any browser, also offline" },
    json: { kind: "flag", about: "print everything as JSON" },
  },
  sections: [POLICY_LIST],
  examples: [
    ["strata compare --policies strata,clear-3 session.jsonl", "two policies and the references"],
    ["strata compare --html page.html ~/.claude/projects/*/*.jsonl", "all policies, as a page"],
    ["strata compare --generate 400000 --window 100000", "without a recording"],
  ],
})

export const RECALL = describe({
  name: "recall",
  about: "find anything a conversation contained, by handle or text",
  more: [
    "The journal keeps everything, including what was cleared, offloaded or compacted. Placeholders show a handle, such as 3f09c1a2b4.0.",
    "Default: the newest conversation of this directory, else of the project.",
  ],
  operands: { value: "[HANDLE]", min: 0, max: 1 },
  options: {
    search: { kind: "text", value: "TEXT", about: "find words, names, paths or error texts" },
    from: { kind: "text", value: "HANDLE", about: "show the messages from here on" },
    to: { kind: "text", value: "HANDLE", about: "with --from: the last message" },
    offset: { kind: "number", value: "N", about: "with a handle: start at this character", min: 0 },
    project: { kind: "flag", about: "search all conversations of the project" },
    kind: {
      kind: "choice",
      value: "KIND",
      about: "only user, assistant, call or result",
      choices: ["user", "assistant", "call", "result"],
    },
    since: { kind: "text", value: "TIME", about: "only after this time: 2026-01-31, 2026-01-31T08:00:00Z" },
    until: { kind: "text", value: "TIME", about: "only before this time" },
    tokens: { kind: "number", value: "N", about: "maximum tokens to print (default 4000)", min: 1, max: 25_000 },
    conversation: { kind: "text", value: "ID", about: "conversation id or unique prefix" },
    owner: OWNER,
    json: { kind: "flag", about: "print as JSON" },
  },
  examples: [
    ["strata recall 3f09c1a2b4.0", "one block, with the blocks before and after it"],
    ['strata recall --search "ECONNREFUSED" --kind result', "where did this error occur?"],
    ["strata recall --from 3f09c1a2b4 --to c81d02e5a9", "what a compaction replaced"],
  ],
})

export const AGENTS = describe({
  name: "agents",
  about: "list a conversation's agents; follow, stop, message them",
  more: [
    "Sub-agents work for the agent of strata chat or strata run. Each has its own journal below that of the conversation.",
    "ID is an agent's id or name. Without an action, the command lists the agents of the newest conversation of this project, then those of earlier ones.",
    "tail, stop and send prefer the newest running conversation. A message is content for the agent: it grants no permission.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    conversation: { kind: "text", value: "ID", about: "conversation id or unique prefix" },
    all: { kind: "flag", about: "list all agents of earlier conversations, not only the newest 10" },
    json: { kind: "flag", about: "print as JSON: list and show" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every agent: status, turns, cost, current activity"],
        ["show ID", "one agent: its task, its result and the path of its journal"],
        ["tail ID", "print what it does until it ends"],
        ["stop ID", "stop it; its parent gets the work done so far"],
        ["send NAME TEXT…", 'send a message; "lead" is the conversation itself, "*" everyone'],
      ],
    },
  ],
  examples: [
    ["strata agents", "what do the agents do?"],
    ["strata agents tail agent-2", "watch one from another terminal"],
    ['strata agents send finder "Look in src/ first"', "give it a hint"],
  ],
})

export const IMPORT = describe({
  name: "import",
  about: "import sessions of other agents, to resume or search them",
  more: [
    "FILE is a transcript of Claude Code, Codex, pi, opencode, the Gemini CLI, the Copilot CLI, OpenHands or SWE-agent, or a directory with such files. It is only read.",
    "A file that was imported before is updated. If both have changed, the new content is imported as a separate conversation. To open one directly: strata chat --resume FILE.",
  ],
  operands: { value: "FILE…", min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    cwd: { kind: "text", value: "DIRECTORY", about: "the project (default: the current directory)" },
    json: { kind: "flag", about: "print one JSON object per file, with import statistics" },
  },
  examples: [
    ["strata import session.jsonl", "one session"],
    ["strata import ~/.claude/projects/-home-me-app", "all sessions of a project"],
  ],
})

export const CONFIG = describe({
  name: "config",
  about: "list every setting, its value and where the value comes from",
  options: {
    json: { kind: "flag", about: "print as JSON, with the environment variable of each" },
    "forget-limits": { kind: "flag", about: "forget window limits learned from refused requests" },
    claude: {
      kind: "choice",
      value: "use|ignore",
      choices: ["use", "ignore"],
      about: "whether to apply your hooks, allow rules, variables and servers for Claude Code",
    },
  },
  examples: [
    ["strata config", "the settings for this directory"],
    ["STRATA_CONTEXT_WINDOW=64000 strata config", "try a value before you save it"],
  ],
})

export const MEMORY = describe({
  name: "memory",
  about: "show, search, change and restore what a project remembers",
  more: [
    "A project is its repository: every worktree and subdirectory has the same memory. Memories are plain files that any editor can change.",
    "NAME is a memory's file or name, or a prefix of it. Without an action, the command lists the memories.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    all: { kind: "flag", about: "list: also memories that newer ones replaced" },
    erase: { kind: "flag", about: "forget: remove it for good, including its history; for secrets" },
    yes: { kind: "flag", about: "revert or erase without a question; for scripts" },
    owner: { ...OWNER, about: "list, show, history, search and why: the memories of this owner" },
    json: { kind: "flag", about: "print as JSON: list, show, history, search and why" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every memory with its type, age and source"],
        ["show NAME", "one memory in full, and where it came from"],
        ["edit NAME", "change it in your $EDITOR"],
        ["review", "go through the agent's unconfirmed notes; one key confirms or drops each"],
        ["confirm NAME", "confirm it: from now on it counts as yours"],
        ["forget NAME", "move it to the archive; or with --erase, remove it everywhere"],
        ["history [ID]", "every change, or one as a diff"],
        ["revert ID", "show a change and revert it"],
        ["search WORDS…", "find memories and passages of past conversations"],
        ["why [CONVERSATION]", "which memories were attached in a conversation (default: the newest), and why"],
      ],
    },
  ],
  examples: [
    ["strata memory", "what this project remembers, and since when"],
    ["strata memory search release notes", "memories first, then past conversations"],
    ["strata memory revert 12", "revert one change"],
  ],
})

export const DREAM = describe({
  name: "dream",
  about: "consolidate a project's memory; watch, stop or review a run",
  more: [
    "A dream consolidates memory: it merges memories, removes contradicted ones and keeps the index short. It works on a copy and becomes one change that you can revert.",
    "Without an action, a dream starts now. Agents start one automatically in the background when there is enough new content.",
  ],
  operands: { value: "[ACTION]", min: 0, max: 1 },
  options: {
    model: { kind: "text", value: "NAME", about: "the model to use (default: STRATA_MODEL)" },
    accept: { kind: "flag", about: "review: install the change without a question" },
    reject: { kind: "flag", about: "review: drop the change without a question" },
    json: { kind: "flag", about: "print as JSON: status and review" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["now", "start a dream and wait for it; Ctrl-C stops it and changes nothing"],
        ["status", "the running or last dream, and when the next may start"],
        ["kill", "stop the dream of any process; the memory stays unchanged"],
        ["review", "review a change that waits for your consent"],
      ],
    },
  ],
  examples: [
    ["strata dream", "consolidate this project's memory now"],
    ["strata dream status", "is a dream running, and what is it doing?"],
    ["strata dream review --accept", "install what waits for consent"],
  ],
})

export const TRUST = describe({
  name: "trust",
  about: "show what a project's settings would run, and trust them",
  more: [
    "Settings in a repository can run programs (hooks, MCP servers) and widen permissions. They apply only after you trust them.",
    "Trust holds for this directory with exactly these settings. After a change you are asked again. Rules that deny or ask always apply.",
  ],
  operands: { value: "[DIRECTORY]", min: 0, max: 1 },
  options: {
    yes: { kind: "flag", about: "trust without a question; for scripts" },
    revoke: { kind: "flag", about: "revoke the trust" },
    list: { kind: "flag", about: "list the trusted directories" },
  },
  examples: [
    ["strata trust", "look at this directory's settings, then decide"],
    ["strata trust --revoke ~/work/app", "stop trusting a directory"],
  ],
})

export const UNLOCK = describe({
  name: "unlock",
  about: "show locks; break those of machines that no longer exist",
  more: [
    "A conversation, a memory and a dream have one writer at a time. If its process ended on this machine, the next one takes over by itself.",
    "On another machine, or in another container, that cannot be detected. If it no longer exists, break its lock here. Locks of processes on this machine are never broken.",
    "A network store releases a conversation by itself soon after its process has ended. There, the command only shows who has it open.",
  ],
  operands: { value: "[ID]", min: 0, max: 1 },
  options: { yes: { kind: "flag", about: "break them without a question; for scripts" } },
  examples: [
    ["strata unlock", "look at all locks of this project, then decide"],
    ["strata unlock 0b8c6c1e --yes", "break the lock of one conversation"],
  ],
})

export const ARCHIVE = describe({
  name: "archive",
  about: "copy sessions of other agents before they are deleted",
  more: [
    `Claude Code silently deletes transcripts that have not changed for 30 days. Without an action, the command copies new content
of the sessions of Claude Code, Codex, pi, Gemini and Copilot on this machine, compressed and deduplicated between forks.`,
    `The copies are exact, including secrets. They stay on this machine, and only you can read them. A session whose file was
deleted can still be inspected, searched, imported and exported.`,
    "SESSION is the prefix of an id in the list.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    "dry-run": { kind: "flag", about: "show what would be copied or erased, and change nothing" },
    again: { kind: "flag", about: "also copy sessions that you erased here before" },
    project: { kind: "text", value: "DIRECTORY", about: "erase: sessions of this project" },
    "older-than": {
      kind: "text",
      value: "AGE",
      about: "erase: sessions that have not changed for that long, such as 90d",
    },
    yes: { kind: "flag", about: "erase or change settings without a question; for scripts" },
    install: {
      kind: "choice",
      value: "AGENT",
      about: "claude-code: archive its sessions automatically, with a hook",
      choices: ["claude-code"],
    },
    uninstall: { kind: "choice", value: "AGENT", about: "remove that hook", choices: ["claude-code"] },
    hook: { kind: "flag", about: "run as that hook: archive in the background, and print nothing" },
    json: { kind: "flag", about: "print as JSON: the list, and the result of a run" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every archived session: project, title, age, size, and whether its file still exists"],
        [
          "restore SESSION [DIRECTORY]",
          "restore its files to their original place or to DIRECTORY; never overwrites a file",
        ],
        ["erase [SESSION…]", "show what would be erased, ask, then erase it for good"],
        ["check", "verify every chunk; repair damaged ones from files that still exist"],
      ],
    },
  ],
  examples: [
    ["strata archive --install claude-code", "from now on, no session is lost"],
    ["strata archive list", "archived sessions, and which of them were deleted elsewhere"],
    ["strata archive erase --project ~/client --older-than 90d", "shows what would be erased, and asks"],
  ],
})

export const EXPORT = describe({
  name: "export",
  about: "export a session for Claude Code, or as Markdown",
  more: [
    `SESSION is a transcript of any program that strata inspect reads, or the prefix of an id: of a conversation of this project, of
another agent's session on this machine, or of an archived one. Without FILE, the result is printed.`,
    "Secrets are masked and home directories shortened. Content that the format cannot represent is reported.",
  ],
  operands: { value: "SESSION [FILE]", min: 1, max: 2 },
  options: {
    to: {
      kind: "choice",
      value: "FORMAT",
      about: "claude-code or markdown",
      choices: ["claude-code", "markdown"],
    },
    "with-secrets": { kind: "flag", about: "keep secrets and paths unchanged, for a private copy" },
    force: { kind: "flag", about: "replace FILE if it exists" },
  },
  examples: [
    ["strata export 4f0c --to markdown talk.md", "a page to read or send"],
    ["strata export rollout.jsonl --to claude-code --with-secrets 4f0c.jsonl", "continue in Claude Code"],
  ],
})

export const INSTALL = describe({
  name: "install",
  about: "put Strata into another agent: claude-code, pi or opencode",
  more: [
    "The agent then uses Strata for its compaction, without a key, a base URL or a change to your account. You see the changes before they are made.",
    `--mode sets the role of Strata. observe: the agent compacts by itself, and Strata reports which names were lost that are used
later. record: a record of names, rules, messages, files and commands follows the agent's own summary. replace: Strata writes
the context after the compaction, and no model is asked.`,
  ],
  operands: { value: "AGENT", min: 1, max: 1 },
  options: {
    mode: {
      kind: "choice",
      value: "MODE",
      about: "observe (default), record or replace",
      choices: ["observe", "record", "replace"],
    },
    yes: { kind: "flag", about: "change the files without a question; for scripts" },
  },
  examples: [
    ["strata install claude-code", "observe first: Claude Code compacts, Strata reports what it lost"],
    ["strata install claude-code --mode replace", "let Strata compact"],
  ],
})

export const UNINSTALL = describe({
  name: "uninstall",
  about: "remove Strata from an agent; restores its files",
  operands: { value: "AGENT", min: 1, max: 1 },
  options: { yes: { kind: "flag", about: "change the files without a question; for scripts" } },
  examples: [["strata uninstall claude-code", "restores the settings byte for byte"]],
})

export const COMPACT_MESSAGES = describe({
  name: "compact-messages",
  about: "compact a JSON message array (used by plugins)",
  more: [
    `The request: {"messages": […]}, in the shape of the Messages API. With "client" (claude-code, pi or opencode) and "session"
the messages may be in that agent's own format, and its transcript on disk is read too.`,
    `Also "budget" (tokens of the result), "keep" (tokens of the newest messages in it), "instructions", "summary" (an existing
summary), "data": true for the record as data and for the state that the next request passes as "before".`,
    `"mode": "prune" keeps every message: "pruned" then has a shorter text for each result that later work has made obsolete.`,
    `"ask": "undo" returns the context before the newest compaction of "session", and "ask": "observe" reports which names the
agent's own compaction lost.`,
    `The response: {"text", "facts", "kept", "tokens"}. The text replaces all messages except those at the positions in "kept".
If "budget" cannot be reached, "overBudget" has the minimum.`,
  ],
  options: {
    hook: { kind: "flag", about: "as a hook of Claude Code 2.1.286 and older: the record after its own summary" },
  },
  examples: [["strata compact-messages < request.json > answer.json", "no model is asked, and nothing is written"]],
})

export const MCP = describe({
  name: "mcp",
  about: "an MCP server: recall and memories for other agents",
  more: [
    `Lets agents search and quote the conversations of this project: this one, earlier ones, and those of Claude Code, Codex, pi,
opencode, Gemini and Copilot on disk. They share the memories that strata memory shows.`,
    "Your agent starts it, in the project's directory, and talks to it over standard input and output.",
    `With --http it listens on this machine only, and every request needs a token. The token is stored in a file that only you
can read; STRATA_MCP_TOKEN overrides it.`,
  ],
  options: {
    http: { kind: "flag", about: "listen on 127.0.0.1 for Streamable HTTP" },
    port: {
      kind: "number",
      value: "N",
      about: "with --http: the port (default 4017; 0: any free port)",
      min: 0,
      max: 65_535,
    },
    project: { kind: "text", value: "DIR", about: "the project's directory (default: this one)" },
  },
  examples: [
    ["claude mcp add strata -- strata mcp", "for Claude Code, in this project"],
    ["codex mcp add strata -- strata mcp", "for Codex"],
    ["strata mcp --http", "one server for clients that connect by address"],
  ],
})

export const SIM = describe({
  name: "sim",
  about: "start a local server that speaks the Messages API, for tests",
  options: {},
  examples: [["strata sim --port 4010 --log", "then point any client at http://127.0.0.1:4010"]],
})

/** All commands by what one wants to do, in the order of the help. Each is in one group. No group has the name of a command. */
export const GROUPS: readonly CommandGroup[] = [
  {
    name: "work",
    about: "talk to an agent, and steer its conversation",
    commands: [DEMO, CHAT, RUN, AGENTS, COMPACT, UNDO],
  },
  {
    name: "look",
    about: "see where context and money went, and what could be saved",
    commands: [INSPECT, USAGE, DASHBOARD, REPLAY, COMPARE],
  },
  {
    name: "remember",
    about: "search conversations, and manage what a project remembers",
    commands: [RECALL, MEMORY, DREAM, SYNC],
  },
  {
    name: "connect",
    about: "use Strata with other agents, clients and frameworks",
    commands: [WRAP, PROXY, DOCTOR, INSTALL, UNINSTALL, MCP, COMPACT_MESSAGES, SIM],
  },
  {
    name: "keep",
    about: "copy, move and erase conversations, sessions and memories",
    commands: [IMPORT, EXPORT, ARCHIVE, MOVE, STORE, UNLOCK],
  },
  { name: "configure", about: "see settings, and decide which to trust", commands: [CONFIG, TRUST] },
]

export const DESCRIPTIONS: readonly CommandDescription[] = GROUPS.flatMap(({ commands }) => commands)
