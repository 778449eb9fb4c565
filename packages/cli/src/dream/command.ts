/** `strata dream`: consolidates a project's memory, and shows, ends or reviews a consolidation. */

import { realpath } from "node:fs/promises"
import { localUser, strataDirectory } from "@strata/core"
import { judge } from "@strata/core/agent"
import { repositoryRoot, systemClock } from "@strata/core/base"
import type { DreamController, DreamResult } from "@strata/core/memory"
import { type DreamFigures, describeChange, dreamSettings, openProjectMemory, projectDreams } from "@strata/core/memory"
import { offlineModel } from "@strata/core/offline"
import { resolveProject } from "@strata/core/projects"
import { createFlags, readSettings, readTrustState } from "@strata/core/settings"
import { storeFrom } from "@strata/core/store"
import { dreamProgress } from "@strata/page"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { connectionFrom } from "../connection.ts"
import { DREAM } from "../descriptions.ts"
import { progressOn } from "../display/progress.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { diffLines } from "../memory/page.ts"
import { interruptible } from "../run/interruption.ts"
import { modelFrom } from "../session-options.ts"
import { nearestTo } from "../suggestion.ts"
import { describeDreamCost, statusLines } from "./page.ts"

const DONE = 0
const NOT_DONE = 1
const ACTIONS = ["now", "status", "kill", "review"] as const
type Action = (typeof ACTIONS)[number]

/** Successful results of a dream. */
const GOOD_ENDS: ReadonlySet<DreamResult["state"]> = new Set(["installed", "nothing", "pending"])

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(DREAM, args)
  const action = parseAction(operands[0])
  if (values.accept && values.reject) throw new UsageError("Use only one of --accept and --reject.")
  if ((values.accept || values.reject) && action !== "review")
    throw new UsageError("--accept and --reject belong to: strata dream review")
  const place = await openDreamContext({ cwd, env, model: values.model })
  try {
    switch (action) {
      case "now":
        return await dreamNow(place, terminal)
      case "status":
        return await showStatus(place, { terminal, json: values.json })
      case "kill":
        return await kill(place, terminal)
      case "review":
        return await review(place, { terminal, json: values.json, answer: readAnswer(values) })
    }
  } finally {
    place.close()
  }
}

function parseAction(name: string = "now"): Action {
  const action = ACTIONS.find((one) => one === name)
  if (action) return action
  const near = nearestTo(name, ACTIONS)
  const hint = near === undefined ? `The actions are ${ACTIONS.join(", ")}.` : `Did you mean "strata dream ${near}"?`
  throw new UsageError(`strata dream has no action ${name}. ${hint}`)
}

const readAnswer = ({ accept, reject }: { accept: boolean; reject: boolean }): "accept" | "reject" | undefined =>
  accept ? "accept" : reject ? "reject" : undefined

const WITHOUT_KEY =
  "There is no API key, so no model is asked. Fixed rules merge repetitions and flag outdated memories."

/** Runs a dream. Ctrl-C ends it, and the memory stays unchanged. */
async function dreamNow({ dreaming, figures, isConnected }: DreamContext, terminal: Terminal): Promise<number> {
  if (!isConnected) terminal.complain(`${WITHOUT_KEY}\n`)
  const interruption = interruptible()
  const progress = terminal.canRewrite ? progressOn(terminal) : undefined
  let shown = ""
  const stopWatching = dreaming.on((state) => {
    const words = dreamProgress(state)
    if (state.status === "running" && progress) progress.show(`Dreaming: ${words}`)
    else if (state.status === "running" && words !== shown) terminal.complain(`${words}\n`)
    shown = words
  })
  try {
    const end = await dreaming.dream({ figures, force: true, signal: interruption.signal })
    progress?.end()
    const isGood = GOOD_ENDS.has(end.state)
    const say = isGood ? terminal.print : terminal.complain
    say(`${[escapeToLine(end.message), describeDreamCost(dreaming.state)].filter(Boolean).join("\n")}\n`)
    return isGood ? DONE : NOT_DONE
  } finally {
    stopWatching()
    progress?.end()
    interruption.stop()
  }
}

interface DreamStatusOptions {
  readonly terminal: Terminal
  readonly json: boolean
}

async function showStatus(
  { dreaming, figures }: DreamContext,
  { terminal, json }: DreamStatusOptions,
): Promise<number> {
  const overview = await dreaming.overview({ figures })
  const { pending, ...rest } = overview
  const value = { ...rest, ...(pending ? { pending: { id: pending.id, at: pending.at, reason: pending.reason } } : {}) }
  const look = { columns: terminal.columns, now: new Date() }
  terminal.print(`${json ? jsonForTerminal(value, 2) : statusLines(overview, look).join("\n")}\n`)
  return DONE
}

async function kill({ dreaming }: DreamContext, terminal: Terminal): Promise<number> {
  const answer = await dreaming.killAny()
  if (answer.state === "none") {
    terminal.complain(`${answer.why}\n`)
    return NOT_DONE
  }
  terminal.print("The dream was asked to stop. The memory stays unchanged.\n")
  return DONE
}

interface DreamReviewOptions extends DreamStatusOptions {
  readonly answer: "accept" | "reject" | undefined
}

async function review(
  { dreaming }: DreamContext,
  { terminal, json, answer: given }: DreamReviewOptions,
): Promise<number> {
  const pending = await dreaming.review()
  if (!pending) {
    terminal.print(json ? "null\n" : "No dream waits for your consent.\n")
    return DONE
  }
  const { base: _, ...shown } = pending
  if (json && given === undefined) {
    terminal.print(`${jsonForTerminal(shown, 2)}\n`)
    return DONE
  }
  const { style } = terminal
  const lines = [
    style.bold(escapeToLine(pending.reason)),
    escapeToLine(pending.why),
    ...(pending.lost.length === 0 ? [] : [`Out of view afterwards: ${escapeToLine(pending.lost.join(", "))}`]),
    "",
    ...diffLines(pending.diff, terminal),
  ]
  terminal.print(`${lines.join("\n")}\n`)
  const answer = given ?? (await askAtTerminal())
  if (answer === "accept") return accept({ dreaming }, terminal)
  if (answer === "reject") {
    await dreaming.reject()
    terminal.print("The change was dropped. The memory is unchanged.\n")
    return DONE
  }
  terminal.print("Nothing was changed. The dream still waits.\n")
  return NOT_DONE
}

async function askAtTerminal(): Promise<"accept" | "reject" | "later" | undefined> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError("strata dream review asks at a terminal. In scripts, use --accept or --reject.")
  return promptForChoice("\naccept, reject or later? ", ["accept", "reject", "later"])
}

async function accept({ dreaming }: Pick<DreamContext, "dreaming">, { print, complain }: Terminal): Promise<number> {
  const installed = await dreaming.accept()
  if (installed.state === "conflict") {
    const files = installed.files.map(escapeToLine).join(", ")
    complain(`${files} changed since. Nothing was installed, and the dream still waits. Reject it, or dream again.\n`)
    return NOT_DONE
  }
  print(
    installed.state === "installed" ? `${describeChange(installed.change)}\n` : "There was nothing left to change.\n",
  )
  return DONE
}

/** Access to the dreams of a directory's project, without a conversation. */
interface DreamContext {
  readonly dreaming: DreamController
  readonly figures: DreamFigures
  /** Whether there is a connection. Without one, the offline model is used. */
  readonly isConnected: boolean
  close(): void
}

interface DreamContextOptions extends Pick<CommandCall, "cwd" | "env"> {
  readonly model?: string | undefined
}

async function openDreamContext({ cwd: given, env, model }: DreamContextOptions): Promise<DreamContext> {
  const root = strataDirectory(env)
  const cwd = await realpath(given)
  const reading = await readSettings({ home: root, cwd, env })
  const trust = await readTrustState(root, reading)
  const { values } = reading.settings({ trusted: trust.state !== "untrusted" })
  const store = storeFrom({ dir: root, env })
  const memory = await openProjectMemory({
    ...{ store, owner: localUser, cwd, clock: systemClock },
    project: await resolveProject({ cwd, env, root, settings: values, store }),
    mode: values.off ? "off" : values.memory,
    code: repositoryRoot(cwd),
  })
  const connection = connectionFrom(env)
  const { allow = [], ask = [], deny = [] } = values.permissions
  const policy = { mode: "ask", allow, ask, deny, project: cwd, protectedDirectories: [], readable: ["/"] } as const
  const dreaming =
    memory &&
    projectDreams({
      ...{ memory, project: cwd, env, clock: systemClock },
      model: connection?.model(values.summariserModel ?? modelFrom(model, env), values.models) ?? offlineModel(),
      rules: (tool, question) => {
        const { verdict, why } = judge({ tool, question, isReadOnly: true }, policy)
        return verdict === "allow" || `${why}.`
      },
    })
  if (!dreaming) {
    memory?.close()
    throw new UsageError(`Memory may not be written: the setting memory is "${values.off ? "off" : values.memory}".`)
  }
  return {
    dreaming,
    figures: dreamSettings(createFlags({ settings: values }).current),
    isConnected: connection !== undefined,
    close: () => memory?.close(),
  }
}
