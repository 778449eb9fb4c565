/** Descriptions of all commands for help and argument parsing. Data only. */
import type { CommandDescription, Options } from "./command.ts"
import { DOCTOR, PROXY, WRAP } from "./proxy/descriptions.ts"
import { MOVE, STORE, SYNC } from "./store/descriptions.ts"

const describe = <const O extends Options>(description: CommandDescription<O>): CommandDescription<O> => description

export const DEMO = describe({
  name: "demo",
  about: "watch an agent outgrow a small window; no key, no network",
  more: [
    `A simulated model works on a scratch copy of a repository, through the real agent loop, the real tools and the official
SDK. You see the window fill up. Strata puts large results aside, clears old ones, takes notes, and compacts when the window is
full.`,
    `A second conversation follows, a simulated day later. It starts empty, recalls what the first one learned, and acts on it.`,
    `At the end, one table compares the same work with and without Strata. The demo touches nothing outside the copy and removes
it afterwards. It copies this repository when you run it from a checkout, and the current directory otherwise.`,
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
    fast: { kind: "flag", about: "run at full speed, without pauses to look" },
    keep: { kind: "flag", about: "keep the scratch copy and the journal" },
  },
  examples: [
    ["strata demo", "takes about forty seconds"],
    ["strata demo --window 40000", "a smaller window fills more often"],
    ["strata demo --turns 120 --seed 3 --keep", "run longer, and keep the journal for strata inspect"],
  ],
})

export const CHAT = describe({
  name: "chat",
  about: "talk to an agent that works in this directory",
  options: {},
  examples: [
    ["strata chat", "start a new conversation"],
    ["strata chat --continue", "go on where you left off"],
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
    ['strata run "Now the linter" --continue --max-turns 20', "go on with the newest conversation"],
    ['strata run "/compact keep the port numbers" --continue', "compact it"],
    ["git diff | strata run --json > events.jsonl", "read the task from a pipe"],
  ],
})

export const COMPACT = describe({
  name: "compact",
  about: "make room in a conversation: summarise it, or clear a part",
  more: [
    "Everything stays in the journal. The next request begins with a summary and facts from the journal. strata undo takes it back.",
    "HINT says what the summary should focus on. --prune, --tool and --images write no summary and ask no model: they clear old results or images.",
    "HANDLE names a message, as the agent sees it in its context, or as strata recall prints it.",
  ],
  operands: { value: "[HINT]", min: 0, max: 1 },
  options: {
    conversation: {
      kind: "text",
      value: "ID",
      about: "another conversation than the newest; the start of its id is enough",
    },
    "dry-run": { kind: "flag", about: "show what would happen and change nothing" },
    edit: { kind: "flag", about: "change the summary in your $EDITOR before it takes effect; an empty text cancels" },
    before: { kind: "text", value: "HANDLE", about: "summarise only what comes before this message" },
    after: { kind: "text", value: "HANDLE", about: "summarise only what comes after this message" },
    prune: { kind: "flag", about: "keep every message; clear only results that later work has overtaken" },
    tool: { kind: "text", value: "NAME", about: "clear only the old results of this tool" },
    keep: { kind: "number", value: "N", min: 0, about: "with --tool: its newest results that stay (default 3)" },
    images: { kind: "flag", about: "leave out only old images and documents" },
    json: { kind: "flag", about: "print one JSON event per line" },
  },
  examples: [
    ["strata compact --dry-run", "what would go, what would stay, and what it costs"],
    ['strata compact --edit "keep the port numbers"', "write the summary, then change it yourself"],
    ["strata compact --prune --dry-run", "how much old reads, failed calls and repeats take"],
    ["strata compact --tool Bash --keep 2", "clear the output of old commands"],
  ],
})

export const UNDO = describe({
  name: "undo",
  about: "take back a compaction, or what was cleared by hand",
  more: [
    "The next request is the one from before, byte for byte. Messages that came later follow it, unless you drop them.",
    "Call it again to undo the decision before that. The journal keeps everything either way.",
  ],
  options: {
    conversation: {
      kind: "text",
      value: "ID",
      about: "another conversation than the newest; the start of its id is enough",
    },
    "drop-later": { kind: "flag", about: "leave out the messages that came later" },
    "dry-run": { kind: "flag", about: "show what would happen and change nothing" },
    json: { kind: "flag", about: "print as JSON" },
  },
  examples: [
    ["strata undo --dry-run", "what would come back, and how large the context would be"],
    ["strata undo", "bring back what the last compaction summarised"],
    ["strata undo --drop-later", "go back to the moment before it"],
  ],
})

const FORMATS_READ =
  "Reads transcripts of Claude Code, Codex, pi, opencode, OpenHands, SWE-agent, Copilot CLI and Gemini CLI, and Strata's own journals."

export const USAGE = describe({
  name: "usage",
  about: "see what all conversations on this machine cost, lost and said",
  more: [
    "Finds the conversations of Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI and Strata. It reads them and never writes to them. What it read is kept in an index, so the next time only new and changed files are read.",
    "It opens a page in your browser, and goes on reading while you look. A terminal without a browser gets the same as tables, as with --text. Nothing leaves this machine.",
  ],
  options: {
    text: { kind: "flag", about: "print tables in the terminal" },
    summary: { kind: "flag", about: "print one sentence" },
    json: { kind: "flag", about: "print everything as JSON" },
    search: { kind: "text", value: "WORDS", about: "list the conversations in which someone said these words" },
    dir: {
      kind: "list",
      value: "DIR",
      about: "also look in this directory, for transcripts of any format; repeat it for more",
    },
    project: { kind: "text", value: "DIR", about: "only conversations of this working directory" },
    since: { kind: "text", value: "DATE", about: "only what was spent since this day, such as 2026-01-31" },
    replay: {
      kind: "number",
      value: "SECONDS",
      about:
        "how long to compute what Strata would have saved (default 10, and up to 60 until a sample is large enough; 0: use what is known)",
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
    share: { kind: "flag", about: "print figures without names, paths or contents, and write a picture of them" },
    picture: {
      kind: "text",
      value: "FILE",
      about: "where the picture goes, an SVG file (with --share: strata-usage.svg)",
    },
  },
  examples: [
    ["strata usage", "everything that is here"],
    ["strata usage --search 'flaky login test'", "find a conversation of any agent"],
    ["strata usage --summary --since 2026-01-01", "one sentence about this year"],
    ["strata usage --dir ./runs --json | jq .cache.byCause", "more places, for another program"],
  ],
})

export const INSPECT = describe({
  name: "inspect",
  about: "see where a conversation's context and money went",
  more: [
    `${FORMATS_READ} It never writes to them.`,
    'Without a file it does what "strata usage --text" does, with a directory the same for what is in it.',
  ],
  operands: { value: "FILE…", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
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
  model: { kind: "text", value: "NAME", about: "as if this model had answered: its prices, cache and window" },
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
  about: "watch a conversation in the browser, while it goes on",
  operands: { value: "CONVERSATION", min: 0, max: 1 },
  more: [
    `Shows this project's conversations as pages: the context over time, every compaction and what it kept, the cache, the money,
the messages, sub-agents and memories. What happens in a running chat is on the page within a second.`,
    `The server listens on this machine only, and the address has a secret. Nothing leaves the machine. Press Ctrl-C to end it.`,
  ],
  options: {
    port: { kind: "number", value: "N", about: "listen on this port (default: a free one)", min: 1, max: 65_535 },
    "no-open": { kind: "flag", about: "print the address and do not open a browser" },
  },
  examples: [
    ["strata dashboard", "the conversations of this project"],
    ["strata dashboard 3f2a", "the one whose id begins with 3f2a"],
  ],
})

export const REPLAY = describe({
  name: "replay",
  about: "run a recorded conversation through a policy: cost, cache, losses",
  more: [
    `${FORMATS_READ} No model is asked: the replay computes what each request would have sent and cost.`,
    "Answers and pauses stay as recorded. What an answer uses and the policy has taken out of the view is fetched again and paid for.",
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
  about: "put policies side by side on recorded conversations",
  more: [
    `${FORMATS_READ} Each conversation runs through every policy, as strata replay does it.`,
    "The scorecard has cost, cache, peak context, what stayed in view or in reach, and time. The references none, claude-style and optimum always run.",
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
  about: "look up anything a conversation ever held, by handle or words",
  more: [
    "Everything stays in the journal, also what was cleared, put aside or compacted. A handle is shown where something was, such as 3f09c1a2b4.0.",
    "Without --conversation, the newest conversation of this directory counts, else of the project.",
  ],
  operands: { value: "[HANDLE]", min: 0, max: 1 },
  options: {
    search: { kind: "text", value: "TEXT", about: "find words, names, paths or error texts" },
    from: { kind: "text", value: "HANDLE", about: "show the messages from here on" },
    to: { kind: "text", value: "HANDLE", about: "with --from: the last message" },
    offset: { kind: "number", value: "N", about: "with a handle: begin at this character", min: 0 },
    project: { kind: "flag", about: "search all conversations of the project" },
    kind: {
      kind: "choice",
      value: "KIND",
      about: "only user, assistant, call or result",
      choices: ["user", "assistant", "call", "result"],
    },
    since: { kind: "text", value: "TIME", about: "only from this time on: 2026-01-31, 2026-01-31T08:00:00Z" },
    until: { kind: "text", value: "TIME", about: "only before this time" },
    tokens: { kind: "number", value: "N", about: "how much to print at most (default 4000)", min: 1, max: 25_000 },
    conversation: { kind: "text", value: "ID", about: "another conversation; the start of its id is enough" },
    json: { kind: "flag", about: "print as JSON" },
  },
  examples: [
    ["strata recall 3f09c1a2b4.0", "one block, with what is right before and after"],
    ['strata recall --search "ECONNREFUSED" --kind result', "where did this error occur?"],
    ["strata recall --from 3f09c1a2b4 --to c81d02e5a9", "what a compaction replaced"],
  ],
})

export const AGENTS = describe({
  name: "agents",
  about: "see the agents of a conversation; follow, stop and message them",
  more: [
    "Agents work for the agent of strata chat or strata run. Each has its own journal under that conversation's.",
    "ID is an agent's id or name. Without an action, the command lists the agents of the newest conversation of this project, then those of earlier ones.",
    "tail, stop and send prefer the newest conversation that runs. A message from here is content for the agent: it gives no permission.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    conversation: { kind: "text", value: "ID", about: "another conversation; the start of its id is enough" },
    all: { kind: "flag", about: "list all agents of earlier conversations, not only the newest 10" },
    json: { kind: "flag", about: "print as JSON: list and show" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every agent: status, turns, cost, and what it does now"],
        ["show ID", "one agent: its task, its result and where its journal is"],
        ["tail ID", "print what it does until it ends"],
        ["stop ID", "end its work; its parent gets what it did so far"],
        ["send NAME TEXT…", 'send it a message; "lead" is the conversation itself, "*" everyone'],
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
  about: "keep sessions of other programs here, to continue or search them",
  more: [
    "FILE is a transcript of Claude Code, Codex, pi, opencode, the Gemini CLI, the Copilot CLI, OpenHands or SWE-agent, or a directory with such files. It is only read.",
    "A file that was imported before is brought up to date. If both went on, what the file has now is kept beside yours. To open one at once: strata chat --resume FILE.",
  ],
  operands: { value: "FILE…", min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    cwd: { kind: "text", value: "DIRECTORY", about: "the project (default: the current directory)" },
    json: { kind: "flag", about: "print one JSON object per file, with what was understood" },
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
    "forget-limits": { kind: "flag", about: "forget the limits that servers have shown by refusing a request" },
    claude: {
      kind: "choice",
      value: "use|ignore",
      choices: ["use", "ignore"],
      about: "whether your hooks, allow rules, variables and servers for Claude Code count",
    },
  },
  examples: [
    ["strata config", "the settings for this directory"],
    ["STRATA_CONTEXT_WINDOW=64000 strata config", "try a value before you keep it"],
  ],
})

export const MEMORY = describe({
  name: "memory",
  about: "see, search, change and undo what a project remembers",
  more: [
    "A project is its repository: every worktree and subdirectory has the same memory. Memories are plain files that any editor can change.",
    "NAME is a memory's file or name, or the start of it. Without an action, the command lists the memories.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    all: { kind: "flag", about: "list: also memories that newer ones replaced" },
    erase: { kind: "flag", about: "forget: for good, also in the history; for a secret" },
    yes: { kind: "flag", about: "revert or erase without a question; for scripts" },
    json: { kind: "flag", about: "print as JSON: list, show, history, search and why" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every memory with its type, age and source"],
        ["show NAME", "one memory in full, and where it came from"],
        ["edit NAME", "change it in your $EDITOR"],
        ["review", "what the agent noted and you have not confirmed; one key confirms or drops it"],
        ["confirm NAME", "say that it is right: from now on it counts as yours"],
        ["forget NAME", "move it to the archive; or with --erase, remove it everywhere"],
        ["history [ID]", "every change, or one as a diff"],
        ["revert ID", "show a change and take it back"],
        ["search WORDS…", "find memories and passages of past conversations"],
        ["why [CONVERSATION]", "which memories the newest (or this) conversation was offered, and what for"],
      ],
    },
  ],
  examples: [
    ["strata memory", "what this project remembers, and since when"],
    ["strata memory search release notes", "memories first, then past conversations"],
    ["strata memory revert 12", "take back one change of the history"],
  ],
})

export const DREAM = describe({
  name: "dream",
  about: "consolidate what a project remembers; watch, end or review that",
  more: [
    "A dream merges memories, removes what is contradicted and keeps the index short. It works on a copy and becomes one change that you can revert.",
    "Without an action, a dream starts now. Agents start one by themselves, in the background, when enough has happened.",
  ],
  operands: { value: "[ACTION]", min: 0, max: 1 },
  options: {
    model: { kind: "text", value: "NAME", about: "the model that dreams (default: STRATA_MODEL)" },
    accept: { kind: "flag", about: "review: install the change without a question" },
    reject: { kind: "flag", about: "review: drop the change without a question" },
    json: { kind: "flag", about: "print as JSON: status and review" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["now", "dream, and wait for it; Ctrl-C ends it and changes nothing"],
        ["status", "the dream that runs or the last one, and when the next may start"],
        ["kill", "end the dream of any process; the memory stays as it was"],
        ["review", "see a change that waits for your consent, and decide"],
      ],
    },
  ],
  examples: [
    ["strata dream", "consolidate this project's memory now"],
    ["strata dream status", "does one run, and what does it do?"],
    ["strata dream review --accept", "install what waits for consent"],
  ],
})

export const TRUST = describe({
  name: "trust",
  about: "see what a project's settings would run, and trust them or not",
  more: [
    "Settings in a repository can run programs (hooks, MCP servers) and widen permissions. They count only after you trusted them.",
    "Trust holds for this directory with exactly these settings. After a change you are asked again. Rules that deny or ask always count.",
  ],
  operands: { value: "[DIRECTORY]", min: 0, max: 1 },
  options: {
    yes: { kind: "flag", about: "trust without a question; for scripts" },
    revoke: { kind: "flag", about: "take the trust back" },
    list: { kind: "flag", about: "list the trusted directories" },
  },
  examples: [
    ["strata trust", "look at this directory's settings, then decide"],
    ["strata trust --revoke ~/work/app", "stop trusting a directory"],
  ],
})

export const UNLOCK = describe({
  name: "unlock",
  about: "see who holds locks here; break those of machines that are gone",
  more: [
    "A conversation, a memory and a dream have one writer at a time. If its process ended on this machine, the next one takes over by itself.",
    "On another machine, or in another container, that cannot be seen. If it is gone, break its lock here. What runs on this machine keeps its lock.",
    "A store across a network frees a conversation by itself soon after its process has ended. There, the command only says who has it open.",
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
    `Claude Code deletes its transcripts after 30 days, without a word. Without an action, the command copies the sessions of
Claude Code, Codex, pi, Gemini and Copilot on this machine: what is new since the last time, compressed, shared between forks.`,
    `The copies are byte for byte, secrets included. They stay on this machine, and only you can read them. A session that is gone
from its place can still be inspected, searched, taken up and exported.`,
    "SESSION is the start of an id in the list.",
  ],
  operands: { value: "[ACTION]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    "dry-run": { kind: "flag", about: "say what would be kept or erased, and change nothing" },
    again: { kind: "flag", about: "also keep sessions that you erased here before" },
    project: { kind: "text", value: "DIRECTORY", about: "erase: sessions that worked there" },
    "older-than": { kind: "text", value: "AGE", about: "erase: sessions not written for that long, such as 90d" },
    yes: { kind: "flag", about: "erase or change settings without a question; for scripts" },
    install: {
      kind: "choice",
      value: "AGENT",
      about: "claude-code: keep its sessions by themselves, with a hook",
      choices: ["claude-code"],
    },
    uninstall: { kind: "choice", value: "AGENT", about: "take that hook out again", choices: ["claude-code"] },
    hook: { kind: "flag", about: "as that hook: keep in the background, and print nothing" },
    json: { kind: "flag", about: "print as JSON: the list, and what was kept" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["list", "every kept session: project, title, age, size, and whether its file is still there"],
        ["restore SESSION [DIRECTORY]", "put its files back where they were, or there; never over another file"],
        ["erase [SESSION…]", "show what would go, ask, then remove it for good"],
        ["check", "read every piece; mend what is damaged from files that are still there"],
      ],
    },
  ],
  examples: [
    ["strata archive --install claude-code", "from now on, no session is lost"],
    ["strata archive list", "what is kept, and what its program has deleted"],
    ["strata archive erase --project ~/client --older-than 90d", "shows what goes, and asks"],
  ],
})

export const EXPORT = describe({
  name: "export",
  about: "export a session for Claude Code, or as Markdown",
  more: [
    `SESSION is a transcript of any program that strata inspect reads, or the start of an id: of a conversation of this project, of
another agent's session on this machine, or of a kept one. Without FILE, it is printed.`,
    "Secrets are masked and home directories shortened. What the format cannot hold is said.",
  ],
  operands: { value: "SESSION [FILE]", min: 1, max: 2 },
  options: {
    to: {
      kind: "choice",
      value: "FORMAT",
      about: "claude-code or markdown",
      choices: ["claude-code", "markdown"],
    },
    "with-secrets": { kind: "flag", about: "leave secrets and paths as they are: for a copy that stays yours" },
    force: { kind: "flag", about: "replace FILE if it is there" },
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
    "The agent then hands its compaction to Strata. No key, no base URL, no change to your account. You see what changes before it does.",
    `--mode says what Strata does. observe: the agent compacts by itself, and Strata says what was lost of what is used later.
record: a record of names, rules, words, files and commands follows the agent's own summary. replace: Strata writes the context
after the compaction, and no model is asked.`,
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
    ["strata install claude-code", "look first: Claude Code compacts, Strata says what it lost"],
    ["strata install claude-code --mode replace", "let Strata do it"],
  ],
})

export const UNINSTALL = describe({
  name: "uninstall",
  about: "take Strata out of an agent again; its files are as they were",
  operands: { value: "AGENT", min: 1, max: 1 },
  options: { yes: { kind: "flag", about: "change the files without a question; for scripts" } },
  examples: [["strata uninstall claude-code", "the settings have the bytes that they had before"]],
})

export const COMPACT_MESSAGES = describe({
  name: "compact-messages",
  about: "compact a JSON message array (used by plugins)",
  more: [
    `The request: {"messages": […]}, in the shape of the Messages API. With "client" (claude-code, pi or opencode) and "session"
the messages may have that agent's own shape, and its transcript on disk is read too.`,
    `Also "budget" (tokens of everything that is left), "keep" (tokens of the newest messages in it), "instructions", "summary" (one
that is written already), "data": true for the record as data and for the state that the next request gives back as "before".`,
    `"mode": "prune" keeps every message: "pruned" then has a shorter text for each result that later work has overtaken.`,
    `"ask": "undo" gives back what was in view before the newest compaction of "session", and "ask": "observe" says which names
the agent's own compaction lost.`,
    `The answer: {"text", "facts", "kept", "tokens"}. The text takes the place of all messages but those at the places in
"kept". Where less than "budget" is not possible, "overBudget" says the least.`,
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
    `Agents search and quote the conversations of this project: this one, earlier ones, and those of Claude Code, Codex, pi,
opencode, Gemini and Copilot as they are on disk. They share the memories that strata memory shows.`,
    "Your agent starts it, in the project's directory, and talks to it over standard input and output.",
    `With --http it listens on this machine only, and every request needs a token. The token is kept in a file that only you can
read; STRATA_MCP_TOKEN sets another.`,
  ],
  options: {
    http: { kind: "flag", about: "listen on 127.0.0.1 for Streamable HTTP" },
    port: {
      kind: "number",
      value: "N",
      about: "with --http: the port (default 4017; 0 for any)",
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

/** All commands, in the order of the help. */
export const DESCRIPTIONS: readonly CommandDescription[] = [
  DEMO,
  CHAT,
  RUN,
  COMPACT,
  UNDO,
  USAGE,
  IMPORT,
  INSPECT,
  DASHBOARD,
  REPLAY,
  COMPARE,
  RECALL,
  AGENTS,
  MEMORY,
  DREAM,
  SYNC,
  CONFIG,
  TRUST,
  UNLOCK,
  ARCHIVE,
  MOVE,
  STORE,
  EXPORT,
  INSTALL,
  UNINSTALL,
  WRAP,
  PROXY,
  DOCTOR,
  COMPACT_MESSAGES,
  MCP,
  SIM,
]
