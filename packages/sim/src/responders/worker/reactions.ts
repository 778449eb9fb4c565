/**
 * How the worker reacts when its last answer failed. If a file is missing, it looks for existing ones. It reads again before it repeats an
 * edit, finds out why a command failed, and avoids refused calls.
 */

import { type ToolCall, toolCommand, toolPath, toolRole } from "@strata/core/offline"
import { editStep } from "./actions.ts"
import { isRepository, listCommand } from "./commands.ts"
import { planEdit } from "./editing.ts"
import type { StepContext, WorkerStep } from "./step.ts"
import { fromRoot, fullPath, isMissing } from "./worker-state.ts"

export const REFUSED = /denied|permission|refus|not allowed|interrupted|rejected/i
const PATIENCE = 2 // consecutive answers spent on failures before the work continues
const RECENT_CALLS = 8

/** The step that reacts to the newest failure. `undefined` if nothing failed. */
export function react(context: StepContext): WorkerStep | undefined {
  const { state } = context
  const mishap = state.lastCalls.find((call) => call.result?.failed === true)
  if (mishap === undefined) return repeatEdit(context)
  if (isStuck(state.calls)) return undefined
  const why = mishap.result!.text.trim().split("\n")[0]!.slice(0, 100)
  if (REFUSED.test(mishap.result!.text)) return undefined
  if (toolRole(mishap.name) === "edit" || toolRole(mishap.name) === "write") return readAgain(context, { mishap, why })
  if (isMissing(mishap)) return listNearby(context, { mishap, why })
  if (toolRole(mishap.name) === "shell") return findOutWhy(context, { mishap, why })
  return undefined
}

interface Mishap {
  readonly mishap: ToolCall
  /** The first line of the tool's output. */
  readonly why: string
}

function isStuck(calls: readonly ToolCall[]): boolean {
  return (
    calls.slice(-PATIENCE).length === PATIENCE && calls.slice(-PATIENCE).every((call) => call.result?.failed === true)
  )
}

function readAgain({ state, settings }: StepContext, { mishap, why }: Mishap): WorkerStep | undefined {
  const path = toolPath(mishap)
  if (path === undefined) return undefined
  const firstLine = state.views.get(fromRoot(path, state.root))?.firstLine ?? 1
  const limit = Math.max(40, Math.round(settings.resultSize / 30))
  const call = state.toolbox.call("read", { path, limit, ...(firstLine > 1 ? { offset: firstLine } : {}) })
  const words = `The edit did not apply (${why}). Reading the file again before I try once more.`
  return call && { thought: "What I remember of this file is out of date.", words, calls: [call] }
}

/** After a failed edit and a new read of the file, repeats the edit. */
function repeatEdit(context: StepContext): WorkerStep | undefined {
  const { state } = context
  const recent = state.calls.slice(-RECENT_CALLS)
  const failed = recent.findLastIndex((call) => toolRole(call.name) === "edit" && call.result?.failed === true)
  if (failed < 0) return undefined
  const path = toolPath(recent[failed]!)
  const later = recent.slice(failed + 1).filter((call) => toolPath(call) === path)
  const reread = later.some((call) => toolRole(call.name) === "read" && call.result?.failed === false)
  const tried = later.some((call) => toolRole(call.name) === "edit")
  if (path === undefined || !reread || tried) return undefined
  const name = fromRoot(path, state.root)
  const call = planEdit(context, name)
  return call && { ...editStep(call, name), words: `Now with the text as it is: changing ${name}.` }
}

function listNearby({ state }: StepContext, { mishap, why }: Mishap): WorkerStep | undefined {
  const path = fromRoot(toolPath(mishap)!, state.root)
  const folder = path.split("/").slice(0, -1).join("/")
  const pattern = folder === "" ? "*" : `${folder}/*`
  const command = `ls ${folder === "" ? "." : `'${fullPath(folder, state.root)}'`}`
  const call =
    state.toolbox.call("find", { pattern, path: state.root ?? "." }) ?? state.toolbox.call("shell", { command })
  const words = `${path} is not there (${why}). Looking at what is.`
  return call && { thought: `I assumed that ${path} exists.`, words, calls: [call] }
}

function findOutWhy(context: StepContext, { mishap, why }: Mishap): WorkerStep | undefined {
  const { state, random } = context
  const command = toolCommand(mishap) ?? ""
  const diagnosis = random.pick([
    isRepository(context) ? `git status --short | head -n ${random.between(5, 40)}` : "pwd && ls",
    `ls -a . | head -n ${random.between(10, 60)}`,
    listCommand(context).command,
  ])
  const call = state.toolbox.call("shell", {
    command: diagnosis,
    description: "find out why the last command failed",
  })
  const words = `\`${command.split("\n")[0]}\` failed${why === "" ? "" : `: ${why}`}. Checking where I stand.`
  return call && { thought: "That failed; I must not go on as if it had worked.", words, calls: [call] }
}
