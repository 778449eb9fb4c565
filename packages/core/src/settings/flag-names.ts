/**
 * All switches and figures that settings, environment or an OpenFeature client can set, with their defaults. Data only. `npm run flags`
 * writes them to `docs/flags.md`.
 */

export interface Switch {
  readonly name: string
  readonly env: string
  readonly on: boolean
  readonly description: string
}

export interface Figure {
  readonly name: string
  readonly env: string
  readonly value: number
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly description: string
}

const envName = (name: string) => `STRATA_${name.replaceAll("-", "_").toUpperCase()}`

const flag = <const N extends string>(name: N, on: boolean, description: string) => ({
  name,
  env: envName(name),
  on,
  description,
})

export const SWITCHES = [
  flag("tool-result-storage", true, "layer 1: large tool results are offloaded to files"),
  flag("clear-by-time", true, "layer 2: old results are cleared after a long pause"),
  flag("clear-by-cache-edit", true, "layer 2: old results are deleted in the server's cache, where the model can"),
  flag("clear-by-api", true, "layer 2: the server is asked to clear, where the model can"),
  flag("clear-by-size", true, "layer 2: old results are cleared when they fill the window and it pays"),
  flag("notes", true, "layer 3: notes are written during the work"),
  flag("compact-from-notes", true, "layer 4: the notes serve as the summary"),
  flag("compact-facts", true, "layer 4: facts from the journal follow the summary"),
  flag("compact-ahead", true, "layer 4: summaries are written in the background"),
  flag("compact-reactive", true, "layer 4: a request refused as too long is compacted and sent again"),
  flag("compact-offline", true, "layer 4: without a model, the summary is quoted from the conversation"),
  flag("fold", true, "old ranges can be folded into a line each"),
  flag("snip", true, "ranges can be cut out of the view"),
  flag("snip-tool", false, "the agent may propose to cut a range out of the view"),
  flag("compact-audit", true, "layer 4: a summary is checked against the conversation"),
  flag("auto-memory", true, "layer 5: what was learned is stored for later conversations"),
  flag("memory-recall", true, "layer 5: memories and past conversations are attached where they fit"),
  flag("dreaming", true, "layer 6: memories are merged and put in order in the background"),
  flag("summarized-thinking", true, "requests ask for the text of thinking, where the model omits it"),
  flag("deferred-tools", true, "tools of large sets wait until ToolSearch loads them"),
  flag("agents", true, "layer 7: in chat and run, the agent may start others"),
] as const satisfies readonly Switch[]

export type SwitchName = (typeof SWITCHES)[number]["name"]

interface Range {
  readonly value: number
  readonly min: number
  readonly max: number
  readonly unit: string
}

const figure = <const N extends string>(name: N, range: Range, description: string) => ({
  name,
  env: envName(name),
  ...range,
  description,
})

const MILLION = 1_000_000
const tokens = (value: number): Range => ({ value, min: 0, max: MILLION, unit: "tokens" })
const characters = (value: number): Range => ({ value, min: 1, max: 100 * MILLION, unit: "characters" })
const count = (value: number, min = 0): Range => ({ value, min, max: 10_000, unit: "" })
const minutes = (value: number, min = 0): Range => ({ value, min, max: 525_600, unit: "minutes" })
const hours = (value: number): Range => ({ value, min: 0, max: 8_760, unit: "hours" })
const seconds = (value: number, min = 0): Range => ({ value, min, max: 86_400, unit: "seconds" })

export const FIGURES = [
  figure("tool-result-limit", characters(50_000), "a larger tool result is offloaded"),
  figure("tool-result-preview", characters(2_000), "how much of it stays in the context"),
  figure("message-results-limit", characters(200_000), "results of one round together"),
  figure("idle-gap", minutes(60), "pause after which the server's cache is gone"),
  figure("idle-keep", count(5, 1), "results that stay"),
  figure("cache-edit-active", count(12, 1), "active results that start it"),
  figure("cache-edit-keep", count(5, 1), "results that stay"),
  figure("api-clear-trigger", tokens(180_000), "input at which the server clears"),
  figure("api-clear-keep", tokens(40_000), "about how much stays"),
  figure("size-clear-keep", tokens(40_000), "clearable results that stay"),
  figure("size-clear-min", tokens(20_000), "minimum worth clearing"),
  figure("size-clear-protect", count(3, 1), "newest results that stay"),
  figure("expected-turns", count(20), "turns over which a clearing must pay"),
  figure("notes-start", tokens(10_000), "context size at which notes begin"),
  figure("notes-growth", tokens(5_000), "growth between two updates"),
  figure("notes-tool-calls", count(3), "tool calls between two updates"),
  figure("notes-section-limit", tokens(2_000), "size of a section"),
  figure("notes-limit", tokens(12_000), "size of the notes"),
  figure(
    "background-share",
    { value: 5, min: 0, max: 100, unit: "percent" },
    "of the cost of an owner's conversations for extractions and dreams",
  ),
  figure(
    "memory-daily-limit",
    { value: 2, min: 0, max: 10_000, unit: "dollars" },
    "cost of a project's memory work in a day (UTC)",
  ),
  figure("memory-turns", count(5, 1), "requests of one extraction of memories"),
  figure("memory-start", tokens(1_500), "rules, preferences and the index of memories at the start"),
  figure("memory-recall-files", count(5), "maximum of memories and passages attached to a message"),
  figure("memory-recall-limit", tokens(2_000), "size of one of them"),
  figure("dream-interval", hours(24), "time between two dreams"),
  figure("dream-check-interval", minutes(10), "time between two counts of conversations"),
  figure("dream-conversations", count(5), "other conversations that start the next dream"),
  figure("dream-turns", count(30, 1), "requests of one dream"),
  figure("tail-min", tokens(10_000), "minimum that stays verbatim after a compaction from notes"),
  figure("tail-max", tokens(40_000), "maximum that stays verbatim after a compaction from notes"),
  figure("keep-messages", count(5), "messages with text that stay"),
  figure("tail-tokens", tokens(4_000), "newest exchanges that stay verbatim after a compaction by a model"),
  figure("keep-result-limit", characters(2_000), "how much of a long result in kept messages is shown"),
  figure("summary-budget", tokens(4_000), "size of a summary; a longer one loses whole sections"),
  figure("notes-wait", seconds(15), "how long a compaction waits for an update under way"),
  figure("notes-wait-age", seconds(60), "an older update is not waited for"),
  figure("summary-output", { ...tokens(20_000), min: 1 }, "output tokens of a direct request for a summary"),
  figure("summary-retries", count(2), "further attempts after an answer without a summary"),
  figure("summary-shrinks", count(3), "how often a too long request for a summary is made smaller"),
  figure(
    "summary-drop",
    { value: 20, min: 1, max: 100, unit: "percent" },
    "rounds dropped then, where the error names no figure",
  ),
  figure("compact-failures", count(3, 1), "failures in a row that stop automatic compaction"),
  figure(
    "compact-min-shrink",
    { value: 10, min: 1, max: 90, unit: "percent" },
    "minimum by which a compaction shrinks the context",
  ),
  figure("compact-early", tokens(115_000), "size from which a compaction may save money; smaller in a smaller window"),
  figure("offline-summary-limit", tokens(4_000), "size of a summary that no model writes"),
  figure(
    "audit-coverage",
    { value: 60, min: 0, max: 100, unit: "percent" },
    "of the facts that summary and record must show, or the model is asked again",
  ),
  figure(
    "audit-fabrication",
    { value: 10, min: 0, max: 100, unit: "percent" },
    "of a summary's claims that may be unfounded, or the model is asked again",
  ),
  figure(
    "compact-target",
    { value: 50, min: 10, max: 100, unit: "percent" },
    "of the threshold: maximum after an automatic compaction",
  ),
  figure("record-limit", tokens(3_000), "size of the facts; rules and the open task may exceed it"),
  figure("restore-files", count(5), "files read again after a compaction"),
  figure("restore-file-limit", tokens(5_000), "size of one of them"),
  figure("restore-limit", tokens(50_000), "size of all of them"),
  figure("restore-skill-limit", tokens(5_000), "size of a skill restored after a compaction"),
  figure("restore-skills-limit", tokens(25_000), "size of all of them"),
  figure("instructions-limit", tokens(40_000), "size of all instruction files"),
  figure(
    "deferred-tools-share",
    { value: 10, min: 0, max: 100, unit: "percent" },
    "of the window that tool definitions may take",
  ),
  figure("deferred-tools-limit", tokens(10_000), "maximum that they may take"),
  figure("first-token-timeout", seconds(240, 1), "longest wait for an answer to begin"),
  figure("stream-idle", seconds(90, 1), "longest silence of a connection during an answer"),
  figure("stream-stall", seconds(300, 1), "longest time without new content"),
  figure("response-timeout", minutes(120, 1), "longest time for one answer"),
  figure("max-denials", count(3, 1), "refused calls after which the model is asked for another way"),
  figure("max-agents", count(8, 1), "agents of a conversation at the same time"),
  figure(
    "max-agents-project",
    count(100, 1),
    "agents of a project at the same time, on all machines that share its store",
  ),
  figure("agent-turns", count(200, 1), "requests of an agent for one task"),
  figure("agent-result-limit", tokens(4_000), "how much of an agent's result its parent gets"),
  figure("agent-progress", seconds(30), "time between two progress lines of a background agent; 0: none"),
] as const satisfies readonly Figure[]

export type FigureName = (typeof FIGURES)[number]["name"]

/** The figures that a switch's flag may contain as an object: `{ "on": true, "idle-gap": 30, "idle-keep": 3 }`. */
export const CONFIGURATIONS: Readonly<Partial<Record<SwitchName, readonly FigureName[]>>> = {
  "tool-result-storage": ["tool-result-limit", "tool-result-preview", "message-results-limit"],
  "clear-by-time": ["idle-gap", "idle-keep"],
  "clear-by-cache-edit": ["cache-edit-active", "cache-edit-keep"],
  "clear-by-api": ["api-clear-trigger", "api-clear-keep"],
  "clear-by-size": ["size-clear-keep", "size-clear-min", "size-clear-protect", "expected-turns"],
  notes: ["notes-start", "notes-growth", "notes-tool-calls", "notes-section-limit", "notes-limit"],
  "compact-from-notes": ["tail-min", "tail-max", "keep-messages", "notes-wait", "notes-wait-age"],
  "compact-facts": ["record-limit"],
  "compact-offline": ["offline-summary-limit"],
  "compact-audit": ["audit-coverage", "audit-fabrication"],
  "auto-memory": ["memory-turns", "memory-start"],
  "memory-recall": ["memory-recall-files", "memory-recall-limit"],
  dreaming: ["dream-interval", "dream-check-interval", "dream-conversations", "dream-turns"],
  "deferred-tools": ["deferred-tools-share", "deferred-tools-limit"],
  agents: ["max-agents", "max-agents-project", "agent-turns", "agent-result-limit"],
}

/** Setting values that earlier versions accepted. The default replaces them. */
const RETIRED_VALUES: Readonly<Record<string, readonly string[]>> = { planner: ["money", "fidelity"] }

/** Names that earlier versions accepted, by group. They are ignored in settings files. */
const RETIRED_NAMES: Readonly<Record<"settings" | "switches" | "figures" | "hooks", readonly string[]>> = {
  settings: ["worktreeMemory"],
  switches: ["folding"],
  // now constants in the code
  figures: [
    "compact-ahead-lead",
    ...["residue-limit", "cleared-extract-limit", "memory-messages", "restore-share", "fold-keep", "pauses"],
    ...["failed-rounds", "command-wait", "agent-message-limit", "agent-messages-waiting", "agent-message-hops"],
    ...["agent-team-wait", "agents-per-conversation"],
  ],
  hooks: [],
}

/** New names of renamed figures. */
const RENAMED_FIGURES: Readonly<Record<string, FigureName>> = {
  "keep-least": "tail-min",
  "keep-most": "tail-max",
  "keep-newest": "tail-tokens",
  "answer-begin": "first-token-timeout",
  "answer-time": "response-timeout",
  "agents-at-once": "max-agents",
  "agents-at-once-in-project": "max-agents-project",
  "refusals-in-a-row": "max-denials",
  "size-clear-least": "size-clear-min",
  "compact-to": "compact-target",
  "compact-progress": "compact-min-shrink",
  "dream-gap": "dream-interval",
  "dream-rescan": "dream-check-interval",
  "notes-first": "notes-start",
}

const OBSOLETE_NAMES = { ...RETIRED_NAMES, figures: [...RETIRED_NAMES.figures, ...Object.keys(RENAMED_FIGURES)] }

/** The settings without obsolete names, so that an old file is still accepted. */
export function withoutRetiredNames(given: unknown): unknown {
  if (!isRecord(given)) return given
  const { settings, ...groups } = OBSOLETE_NAMES
  const kept: Record<string, unknown> = without(settings, given)
  for (const [group, names] of Object.entries(groups)) {
    const values = kept[group]
    if (isRecord(values)) kept[group] = without(names, values)
  }
  for (const [name, values] of Object.entries(RETIRED_VALUES))
    if (values.includes(kept[name] as string)) delete kept[name]
  return kept
}

/** The obsolete names in these settings, as in `figures.pauses`, with the new name if there is one. */
export function findRetired(given: unknown): { readonly gone: readonly string[]; readonly renamed: readonly string[] } {
  if (!isRecord(given)) return { gone: [], renamed: [] }
  const has = (group: string) => (name: string) => isRecord(given[group]) && Object.hasOwn(given[group], name)
  const { settings, ...groups } = RETIRED_NAMES
  const inGroups = Object.entries(groups).flatMap(([group, names]) =>
    names.filter(has(group)).map((name) => `${group}.${name}`),
  )
  return {
    gone: [...settings.filter((name) => Object.hasOwn(given, name)), ...inGroups],
    renamed: Object.entries(RENAMED_FIGURES)
      .filter(([name]) => has("figures")(name))
      .map(([name, now]) => `figures.${name} is now figures.${now}`),
  }
}

const without = (names: readonly string[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
