/**
 * What the worker does when nothing went wrong: look around, read, search, change, run, take notes. Each move returns
 * the step it would take, or nothing. Chance decides which move comes first.
 */

import { callsOf, fieldOf, hashText, type PlannedCall, pathOf, roleOf, type ToolCall } from "@strata/core/offline"
import { obeys } from "../corrections.ts"
import { listCommand, lostPath, pickCommand, pickFailingCommand } from "./commands.ts"
import { extensionOf, isEditable, pickWord, planEdit } from "./editing.ts"
import { fromRoot, fullPath } from "./situation.ts"
import type { Hand, Move, Step } from "./step.ts"

interface WeightedMove {
  readonly move: Move
  readonly weight: number
}

/** Relative weights: mostly reading, about one change in five steps. */
const MOVES: readonly WeightedMove[] = [
  { move: readFiles, weight: 34 },
  { move: searchWords, weight: 16 },
  { move: changeFile, weight: 20 },
  { move: runCommand, weight: 18 },
  { move: lookAround, weight: 8 },
  { move: writeNotes, weight: 4 },
]
const TROUBLES: readonly WeightedMove[] = [
  { move: runFailingCommand, weight: 4 },
  { move: readLostFile, weight: 3 },
  { move: repeatOldEdit, weight: 5 },
]
const KNOWN_FILES = 8 // below this the worker looks around first

/** The moves worth trying now, in random order. */
export function orderMoves(hand: Hand): Move[] {
  const { situation, settings, dice } = hand
  const ordinary = drawOrder(MOVES, hand)
  const first = situation.files.length < KNOWN_FILES && dice.chance(0.6) ? [lookAround] : []
  const troubles = dice.chance(settings.trouble) ? drawOrder(TROUBLES, hand) : []
  return [...first, ...troubles, ...ordinary]
}

export function lookAround(hand: Hand): Step | undefined {
  const { situation, dice } = hand
  const { command, purpose } = listCommand(hand)
  const kinds = [...new Set(situation.files.map(extensionOf))]
  const kind = dice.pick(kinds)
  const folder = dice.pick(situation.files)?.split("/").slice(0, -1).join("/")
  const pattern = kind === undefined ? "**/*" : folder && dice.chance(0.5) ? `${folder}/**/*` : `**/*.${kind}`
  const calls = [
    situation.root === undefined || dice.chance(0.5)
      ? situation.toolbox.call("shell", { command, description: purpose })
      : undefined,
    situation.toolbox.call("find", { pattern, path: situation.root ?? "." }),
  ]
  return step({ calls, thought: `I do not know this part yet. I want to ${purpose}.`, words: "Let me look around." })
}

function readFiles(hand: Hand): Step | undefined {
  const { situation, settings, dice } = hand
  const readable = situation.files.filter((path) => !situation.missing.has(path))
  const unread = readable.filter((path) => !situation.views.has(path))
  const paths = dice.draw(unread.length > 0 ? unread : readable, dice.between(1, settings.pace))
  const calls = paths.map((path) => planRead(hand, path))
  const names = paths.join(", ")
  return step({
    calls,
    thought:
      unread.length > 0 ? `The answer may be in ${names}, which I have not read.` : `${names} once more, to be sure.`,
    words: `Reading ${names}.`,
  })
}

/** Continues where the last read of the file ended. */
function planRead({ situation, settings, dice }: Hand, path: string): PlannedCall | undefined {
  const view = situation.views.get(path)
  const limit = Math.max(20, Math.round(settings.resultSize / 40))
  const shown = view?.text.split("\n").length ?? 0
  const more = view !== undefined && shown >= limit && dice.chance(0.7)
  const offset = more ? { offset: view.firstLine + shown } : {}
  return situation.toolbox.call("read", { path: fullPath(path, situation.root), limit, ...offset })
}

function searchWords(hand: Hand): Step | undefined {
  const { situation, settings, dice } = hand
  const words = [...new Set(Array.from({ length: dice.between(1, settings.pace) }, () => pickWord(hand)))]
  const path = situation.root ?? "."
  const count = Math.max(5, Math.round(settings.resultSize / 90))
  const calls = words.map((pattern) => {
    const kind = extensionOf(dice.pick(situation.files) ?? "")
    const mode = dice.chance(0.7) ? "content" : "files_with_matches"
    return situation.toolbox.call("search", {
      pattern,
      path,
      count,
      mode,
      ...(kind === "" ? {} : { glob: `*.${kind}` }),
    })
  })
  const names = words.join(" and ")
  return step({ calls, thought: `Who else uses ${names}?`, words: `Searching for ${names}.` })
}

function changeFile(hand: Hand): Step | undefined {
  const paths = [...hand.situation.views.keys()].filter(isEditable).slice(-12)
  for (const path of hand.dice.draw(paths, 3)) {
    const call = planEdit(hand, path)
    const { rules, root } = hand.situation
    const isAllowed = call !== undefined && rules.every((rule) => obeys(rule, { call, root }))
    if (isAllowed) return editStep(call, path)
  }
  return undefined
}

export function editStep(call: PlannedCall, path: string): Step {
  return { thought: `${path} says too little about this.`, words: `Changing ${path}.`, calls: [call] }
}

function runCommand(hand: Hand): Step | undefined {
  const chosen = pickCommand(hand)
  return chosen && commandStep(hand, chosen)
}

function runFailingCommand(hand: Hand): Step | undefined {
  const chosen = pickFailingCommand(hand)
  return chosen && commandStep(hand, chosen)
}

function commandStep({ situation }: Hand, { command, purpose }: { command: string; purpose: string }) {
  const call = situation.toolbox.call("shell", { command, description: purpose })
  return step({ calls: [call], thought: `I want to ${purpose}.`, words: `I want to ${purpose}.` })
}

function readLostFile(hand: Hand): Step | undefined {
  const file = hand.dice.pick(hand.situation.files)
  if (file === undefined) return undefined
  const path = lostPath(hand, file)
  const call = hand.situation.toolbox.call("read", { path: fullPath(path, hand.situation.root) })
  return step({ calls: [call], thought: `There should be a ${path} beside ${file}.`, words: `Reading ${path}.` })
}

/** Uses text that one of its own edits has replaced, as when an agent relies on an old read. */
function repeatOldEdit({ situation, dice }: Hand): Step | undefined {
  const replaced = situation.calls.filter((call) => {
    if (roleOf(call.name) !== "edit" || call.result?.failed !== false) return false
    const [old, fresh] = [fieldOf(call, "old"), fieldOf(call, "new")]
    const view = situation.views.get(fromRoot(pathOf(call) ?? "", situation.root))
    return typeof old === "string" && typeof fresh === "string" && view !== undefined && !view.text.includes(old)
  })
  const earlier = dice.pick(replaced)
  if (earlier === undefined) return undefined
  const [path, old, fresh] = [pathOf(earlier)!, fieldOf(earlier, "old"), fieldOf(earlier, "new")]
  const call = situation.toolbox.call("edit", { path, old, new: `${fresh}, as before` })
  return call && editStep(call, fromRoot(path, situation.root))
}

/** Once per task, if the user named a file for notes: reads what it holds, then writes it. */
export function writeWhereAsked(hand: Hand): Step | undefined {
  const { situation, dice } = hand
  const { notes, root, views, missing } = situation
  if (notes === undefined || callsOf(situation.sinceTask).some((call) => isWriteTo(call, notes.path, root))) {
    return undefined
  }
  const before = views.get(notes.path)
  if (before === undefined && situation.files.includes(notes.path) && !missing.has(notes.path)) {
    const others = situation.files.filter((path) => path !== notes.path && !views.has(path))
    const paths = [notes.path, ...dice.draw(others, 2)]
    const words = `You asked: "${notes.words}" Reading what is in ${notes.path}.`
    const thought = `The user wants notes in ${notes.path}.`
    const reading = step({ calls: paths.map((path) => planRead(hand, path)), thought, words })
    return reading && { ...reading, isAnnounced: true }
  }
  const seen = filesSeen(situation)
  const lines = seen.length > 0 ? seen : situation.files.slice(0, 5).map((path) => `- ${path}`)
  const content = [before?.text.trimEnd(), notesText(hand, lines)].filter((part) => part !== undefined).join("\n\n")
  const call = situation.toolbox.call("write", { path: fullPath(notes.path, root), content })
  const thought = `${notes.path} is the place for notes.`
  const writing = step({ calls: [call], thought, words: `Notes go to ${notes.path}.` })
  return writing && { ...writing, isAnnounced: true }
}

function isWriteTo(call: ToolCall, path: string, root: string | undefined): boolean {
  const isDone = roleOf(call.name) === "write" && call.result?.failed === false
  return isDone && fromRoot(pathOf(call) ?? "", root) === path
}

/** A word that the files share, the task, and the files. */
function notesText(hand: Hand, lines: readonly string[]): string {
  return [`# ${pickWord(hand)}`, "", `For: ${hand.situation.task.split("\n")[0]}`, "", ...lines, ""].join("\n")
}

/** The files read lately, each with its first line. */
function filesSeen({ views, notes }: Hand["situation"]): string[] {
  return [...views]
    .filter(([path]) => path !== notes?.path)
    .slice(-5)
    .map(([path, { text, firstLine }]) => `- ${path}, line ${firstLine}: ${text.split("\n")[0]!.trim()}`)
}

function writeNotes(hand: Hand): Step | undefined {
  const { situation, dice } = hand
  if (situation.notes) return undefined
  const lines = filesSeen(situation)
  const content = notesText(hand, lines)
  if (lines.length === 0) return undefined
  const topic = content.slice("# ".length, content.indexOf("\n"))
  // A few names only, so a long conversation does not fill the disk.
  const path = fullPath(`worker-notes/${hashText(topic) % 12}-${dice.between(1, 3)}.md`, situation.root)
  const call = situation.toolbox.call("write", { path, content })
  return step({
    calls: [call],
    thought: `What I know about ${topic} should not get lost.`,
    words: `Noting what ${topic} does.`,
  })
}

function step(given: {
  calls: readonly (PlannedCall | undefined)[]
  thought: string
  words: string
}): Step | undefined {
  const calls = given.calls.filter((call) => call !== undefined)
  return calls.length === 0 ? undefined : { ...given, calls }
}

function drawOrder(moves: readonly WeightedMove[], { dice }: Hand): Move[] {
  // Sorting by u^(1/weight) draws without replacement, in proportion to the weights.
  return moves
    .map(({ move, weight }) => ({ move, key: dice.next() ** (1 / weight) }))
    .sort((one, other) => other.key - one.key)
    .map(({ move }) => move)
}
