/** Opens a chat in a terminal, ready for input, with the simulator as the server. */
import type { TERMINALS } from "./terminal.ts"
import { type Workbench, type WorkbenchOptions, workbench } from "./workbench.ts"

/** Matches an empty input line of an idle agent: after the last rule there are only the prompt and the status. */
export const RESTS = /─{40}\s+>\s+(?:type a task, or \/help\s+)?claude-opus-5-5[^─]*$/

/** Matches if the newest question takes keys. Output since the last key may still contain an earlier question. */
export const TAKES_KEYS = /Enter or a key chooses(?![\s\S]*Takes keys in a moment)/

export interface ChatOptions extends WorkbenchOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Additional variables that depend on the bench. */
  readonly inStore?: (bench: Workbench) => Readonly<Record<string, string>>
}

export async function startChat(
  open: (typeof TERMINALS)[number]["open"],
  { env = {}, args = [], inStore = () => ({}), ...options }: ChatOptions,
) {
  await using opened = new AsyncDisposableStack()
  const bench = opened.use(await workbench(options))
  const command = [...bench.command, "chat", ...args]
  const terminal = opened.use(open({ command, cwd: bench.project, env: { ...bench.env, ...env, ...inStore(bench) } }))
  await terminal.sees("type a task, or /help")
  const kept = opened.move()
  return { bench, terminal, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
