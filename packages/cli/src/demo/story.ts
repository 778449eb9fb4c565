/** What the demo is about, in words that picture and summary share: how much work went through the window, what each compaction left. */
import { short } from "../display/wording.ts"
import { type DemoCompaction, type DemoState, workOf } from "./state.ts"

/** `3.4 windows` */
export function windowsOf(state: DemoState): string {
  return `${(workOf(state) / state.thresholds.window).toFixed(1)} windows`
}

/** `30.7K to 10.4K from the notes: 38 told, 5 kept, facts, 2 files`. Told: by the summary. Short, so that a line holds it. */
export function compactionWords({ tokensBefore, tokensAfter, route, told, kept, restored }: DemoCompaction): string {
  const stayed = [`${told} told`, ...(kept === 0 ? [] : [`${kept} kept`]), ...restoredWords(restored)]
  return `${short(tokensBefore)} to ${short(tokensAfter)} ${ROUTES[route] ?? `by ${route}`}: ${stayed.join(", ")}`
}

const ROUTES: Readonly<Record<string, string>> = {
  prepared: "prepared ahead",
  notes: "from the notes",
  shared: "by the model",
  direct: "by the model",
}
const RESTORED: Readonly<Record<string, string>> = { carried_facts: "facts", todo_list: "todos", file: "file" }

/** Kinds of attachments, each once: `facts`, `3 files`, `todos`. */
function restoredWords(kinds: readonly string[]): readonly string[] {
  return [...Map.groupBy(kinds, (kind) => RESTORED[kind] ?? kind.replaceAll("_", " "))].map(([kind, all]) =>
    all.length === 1 ? (kind === "file" ? "1 file" : kind) : `${all.length} ${kind}s`,
  )
}
