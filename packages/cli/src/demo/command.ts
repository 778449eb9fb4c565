/** `strata demo`: an agent at work on a scratch copy, and the terminal shows what fills its window. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Agent, QueryEnd, QueryEvent } from "@strata/core/agent"
import { ContextFullError, summarise } from "@strata/core/parts"
import { readArguments } from "../arguments.ts"
import type { Call, Run, Values } from "../command.ts"
import { DEMO } from "../descriptions.ts"
import type { Terminal } from "../display/terminal.ts"
import { interruptible } from "../run/interruption.ts"
import { makeScratch, repositoryToShow, type Scratch } from "./scratch.ts"
import { type DemoScreen, openScreen } from "./screen.ts"
import { after, beginning, type DemoState, type Reading } from "./state.ts"
import { summary } from "./summary.ts"

const DEFAULTS = {
  turns: 25,
  seed: 2,
  window: 100_000, // small enough to be seen filling
  task: "Get to know this repository, then tidy up one small thing in it. Never delete a file.",
}
/** How long the picture stands still after an event, in milliseconds: time to look. */
const TIME_TO_LOOK: Partial<Record<QueryEvent["type"], number>> = { request: 260, response: 220, "tool-result": 140 }
const MOST_OVER = 2 // the simulated model takes up to a third more turns than planned; beyond this something is wrong
const INTERRUPTED = 130

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(DEMO, args)
  const interruption = interruptible()
  const scratch = makeScratch(repositoryToShow(cwd), { keep: values.keep })
  try {
    return await perform({ ...values, scratch, env, terminal, signal: interruption.signal })
  } finally {
    scratch.remove()
    interruption.stop()
  }
}

interface Performance extends Values<typeof DEMO.options> {
  readonly scratch: Scratch
  readonly env: Call["env"]
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

/** From opening the workshop to the summary; whatever happens, everything is closed behind it. */
async function perform({ scratch, env, terminal, signal, ...options }: Performance): Promise<number> {
  const { turns = DEFAULTS.turns, seed = DEFAULTS.seed, window = DEFAULTS.window, task = DEFAULTS.task } = options
  const started = performance.now()
  const elapsedMs = () => performance.now() - started
  const { MODEL, openWorkshop } = await import("./workshop.ts") // loads a tokenizer, which mistakes need not wait for
  const { agent, close } = await openWorkshop({ scratch, turns, seed, window, env })
  const screen = openScreen(terminal, { elapsedMs })
  try {
    const first = beginning({ model: MODEL, thresholds: agent.chat.thresholds, planned: turns })
    screen.begin(scratch, first)
    const query = agent.query(task, { maxTurns: turns * MOST_OVER, signal })
    const isPaced = terminal.isScreen && !options.fast
    const { state, end } = await watch({ agent, query, screen, first, isPaced, signal })
    screen.end()
    const { location, views } = agent.chat
    const kept = options.keep ? { journal: location } : {}
    const outcome = { state, elapsedMs: elapsedMs(), artifacts: views.artifacts, strata: ownName(env), ...kept }
    terminal.print(`\n${summary(outcome, terminal).join("\n")}\n`)
    return exitCode(end, (sentence) => terminal.complain(`\n${sentence}\n`))
  } finally {
    screen.end()
    await close()
  }
}

/** How this program is called by whoever called it now: from a checkout it is an npm script. */
const ownName = (env: Call["env"]) => (env.npm_lifecycle_event === undefined ? "strata" : "npm run strata --")

interface Watched {
  readonly agent: Agent
  readonly query: AsyncGenerator<QueryEvent, QueryEnd>
  readonly screen: DemoScreen
  readonly first: DemoState
  readonly isPaced: boolean
  readonly signal: AbortSignal
}

async function watch({
  agent,
  query,
  screen,
  first,
  isPaced,
  signal,
}: Watched): Promise<{ state: DemoState; end: QueryEnd }> {
  let state = first
  for (;;) {
    const { value, done } = await query.next()
    if (done) return { state, end: value }
    state = after(state, { event: value, read: () => readingOf(agent) })
    screen.show(state, value)
    const ms = isPaced ? (TIME_TO_LOOK[value.type] ?? 0) : 0
    if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined) // an interruption ends the looking
  }
}

function readingOf({ chat }: Agent): Reading {
  return {
    accounting: chat.accounting(),
    size: chat.views.context.size(),
    fill: chat.fill(),
    spent: summarise(chat.views.ledger),
  }
}

/** A full window is no failure here: it is what the demo is about. */
function exitCode(end: QueryEnd, complain: (sentence: string) => void): number {
  if (end.reason === "aborted") complain("Stopped.")
  if (end.reason === "error") complain(end.message)
  if (end.reason === "error") return end.error instanceof ContextFullError ? 0 : 1
  return end.reason === "aborted" ? INTERRUPTED : 0
}
