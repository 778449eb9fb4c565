/**
 * How the worker reacts when its last answer failed. If a file is missing, it looks for what exists. It reads again
 * before it repeats an edit, finds out why a command failed, and avoids what was refused.
 */

import { commandOf, pathOf, roleOf, type ToolCall } from "@strata/core/offline"
import { isRepository, listCommand } from "./commands.ts"
import { planEdit } from "./editing.ts"
import { editStep } from "./moves.ts"
import { fromRoot, fullPath, isMissing } from "./situation.ts"
import type { Hand, Step } from "./step.ts"

export const REFUSED = /denied|permission|refus|not allowed|interrupted|rejected/i
const PATIENCE = 2 // answers in a row spent on failures; then the work goes on
const RECENT_CALLS = 8

/** The step that reacts to the newest failure. `undefined` if nothing failed. */
export function react(hand: Hand): Step | undefined {
  const { situation } = hand
  const mishap = situation.lastCalls.find((call) => call.result?.failed === true)
  if (mishap === undefined) return repeatEdit(hand)
  if (isStuck(situation.calls)) return undefined
  const why = mishap.result!.text.trim().split("\n")[0]!.slice(0, 100)
  if (REFUSED.test(mishap.result!.text)) return undefined
  if (roleOf(mishap.name) === "edit" || roleOf(mishap.name) === "write") return readAgain(hand, { mishap, why })
  if (isMissing(mishap)) return lookBeside(hand, { mishap, why })
  if (roleOf(mishap.name) === "shell") return findOutWhy(hand, { mishap, why })
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

function readAgain({ situation, settings }: Hand, { mishap, why }: Mishap): Step | undefined {
  const path = pathOf(mishap)
  if (path === undefined) return undefined
  const firstLine = situation.views.get(fromRoot(path, situation.root))?.firstLine ?? 1
  const limit = Math.max(40, Math.round(settings.resultSize / 30))
  const call = situation.toolbox.call("read", { path, limit, ...(firstLine > 1 ? { offset: firstLine } : {}) })
  const words = `The edit did not apply (${why}). Reading the file again before I try once more.`
  return call && { thought: "What I remember of this file is out of date.", words, calls: [call] }
}

/** After a failed edit and a new read of the file, repeats the edit. */
function repeatEdit(hand: Hand): Step | undefined {
  const { situation } = hand
  const recent = situation.calls.slice(-RECENT_CALLS)
  const failed = recent.findLastIndex((call) => roleOf(call.name) === "edit" && call.result?.failed === true)
  if (failed < 0) return undefined
  const path = pathOf(recent[failed]!)
  const later = recent.slice(failed + 1).filter((call) => pathOf(call) === path)
  const reread = later.some((call) => roleOf(call.name) === "read" && call.result?.failed === false)
  const tried = later.some((call) => roleOf(call.name) === "edit")
  if (path === undefined || !reread || tried) return undefined
  const name = fromRoot(path, situation.root)
  const call = planEdit(hand, name)
  return call && { ...editStep(call, name), words: `Now with the text as it is: changing ${name}.` }
}

function lookBeside({ situation }: Hand, { mishap, why }: Mishap): Step | undefined {
  const path = fromRoot(pathOf(mishap)!, situation.root)
  const folder = path.split("/").slice(0, -1).join("/")
  const pattern = folder === "" ? "*" : `${folder}/*`
  const command = `ls ${folder === "" ? "." : `'${fullPath(folder, situation.root)}'`}`
  const call =
    situation.toolbox.call("find", { pattern, path: situation.root ?? "." }) ??
    situation.toolbox.call("shell", { command })
  const words = `${path} is not there (${why}). Looking at what is.`
  return call && { thought: `I assumed that ${path} exists.`, words, calls: [call] }
}

function findOutWhy(hand: Hand, { mishap, why }: Mishap): Step | undefined {
  const { situation, dice } = hand
  const command = commandOf(mishap) ?? ""
  const diagnosis = dice.pick([
    isRepository(hand) ? `git status --short | head -n ${dice.between(5, 40)}` : "pwd && ls",
    `ls -a . | head -n ${dice.between(10, 60)}`,
    listCommand(hand).command,
  ])
  const call = situation.toolbox.call("shell", {
    command: diagnosis,
    description: "find out why the last command failed",
  })
  const words = `\`${command.split("\n")[0]}\` failed${why === "" ? "" : `: ${why}`}. Checking where I stand.`
  return call && { thought: "That failed; I must not go on as if it had worked.", words, calls: [call] }
}
