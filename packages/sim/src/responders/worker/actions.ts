/**
 * The worker's actions when nothing went wrong: explore, read, search, change, run, take notes. Each action returns the step it would take,
 * or nothing. Chance decides which action comes first.
 */

import {
  hashText,
  listCalls,
  type PlannedCall,
  type ToolCall,
  toolField,
  toolPath,
  toolRole,
} from "@strata/core/offline"
import { obeys } from "../corrections.ts"
import { listCommand, lostPath, pickCommand, pickFailingCommand } from "./commands.ts"
import { extensionOf, isEditable, pickWord, planEdit } from "./editing.ts"
import type { StepContext, WorkerAction, WorkerStep } from "./step.ts"
import { fromRoot, fullPath } from "./worker-state.ts"

interface WeightedAction {
  readonly action: WorkerAction
  readonly weight: number
}

/** Relative weights: mostly reading, about one change in five steps. */
const ACTIONS: readonly WeightedAction[] = [
  { action: readFiles, weight: 34 },
  { action: searchWords, weight: 16 },
  { action: changeFile, weight: 20 },
  { action: runCommand, weight: 18 },
  { action: lookAround, weight: 8 },
  { action: writeNotes, weight: 4 },
]
const TROUBLES: readonly WeightedAction[] = [
  { action: runFailingCommand, weight: 4 },
  { action: readLostFile, weight: 3 },
  { action: repeatOldEdit, weight: 5 },
]
const KNOWN_FILES = 8 // with fewer known files the worker explores first

/** The actions worth trying now, in random order. */
export function orderActions(context: StepContext): WorkerAction[] {
  const { state, settings, random } = context
  const ordinary = drawOrder(ACTIONS, context)
  const first = state.files.length < KNOWN_FILES && random.chance(0.6) ? [lookAround] : []
  const troubles = random.chance(settings.trouble) ? drawOrder(TROUBLES, context) : []
  return [...first, ...troubles, ...ordinary]
}

export function lookAround(context: StepContext): WorkerStep | undefined {
  const { state, random } = context
  const { command, purpose } = listCommand(context)
  const kinds = [...new Set(state.files.map(extensionOf))]
  const kind = random.pick(kinds)
  const folder = random.pick(state.files)?.split("/").slice(0, -1).join("/")
  const pattern = kind === undefined ? "**/*" : folder && random.chance(0.5) ? `${folder}/**/*` : `**/*.${kind}`
  const calls = [
    state.root === undefined || random.chance(0.5)
      ? state.toolbox.call("shell", { command, description: purpose })
      : undefined,
    state.toolbox.call("find", { pattern, path: state.root ?? "." }),
  ]
  return step({ calls, thought: `I do not know this part yet. I want to ${purpose}.`, words: "Let me look around." })
}

function readFiles(context: StepContext): WorkerStep | undefined {
  const { state, settings, random } = context
  const readable = state.files.filter((path) => !state.missing.has(path))
  const unread = readable.filter((path) => !state.views.has(path))
  const paths = random.draw(unread.length > 0 ? unread : readable, random.between(1, settings.pace))
  const calls = paths.map((path) => planRead(context, path))
  const names = paths.join(", ")
  return step({
    calls,
    thought:
      unread.length > 0 ? `The answer may be in ${names}, which I have not read.` : `${names} once more, to be sure.`,
    words: `Reading ${names}.`,
  })
}

/** Continues where the last read of the file ended. */
function planRead({ state, settings, random }: StepContext, path: string): PlannedCall | undefined {
  const view = state.views.get(path)
  const limit = Math.max(20, Math.round(settings.resultSize / 40))
  const shown = view?.text.split("\n").length ?? 0
  const more = view !== undefined && shown >= limit && random.chance(0.7)
  const offset = more ? { offset: view.firstLine + shown } : {}
  return state.toolbox.call("read", { path: fullPath(path, state.root), limit, ...offset })
}

function searchWords(context: StepContext): WorkerStep | undefined {
  const { state, settings, random } = context
  const words = [...new Set(Array.from({ length: random.between(1, settings.pace) }, () => pickWord(context)))]
  const path = state.root ?? "."
  const count = Math.max(5, Math.round(settings.resultSize / 90))
  const calls = words.map((pattern) => {
    const kind = extensionOf(random.pick(state.files) ?? "")
    const mode = random.chance(0.7) ? "content" : "files_with_matches"
    return state.toolbox.call("search", {
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

function changeFile(context: StepContext): WorkerStep | undefined {
  const paths = [...context.state.views.keys()].filter(isEditable).slice(-12)
  for (const path of context.random.draw(paths, 3)) {
    const call = planEdit(context, path)
    const { rules, root } = context.state
    const isAllowed = call !== undefined && rules.every((rule) => obeys(rule, { call, root }))
    if (isAllowed) return editStep(call, path)
  }
  return undefined
}

export function editStep(call: PlannedCall, path: string): WorkerStep {
  return { thought: `${path} says too little about this.`, words: `Changing ${path}.`, calls: [call] }
}

function runCommand(context: StepContext): WorkerStep | undefined {
  const chosen = pickCommand(context)
  return chosen && commandStep(context, chosen)
}

function runFailingCommand(context: StepContext): WorkerStep | undefined {
  const chosen = pickFailingCommand(context)
  return chosen && commandStep(context, chosen)
}

function commandStep({ state }: StepContext, { command, purpose }: { command: string; purpose: string }) {
  const call = state.toolbox.call("shell", { command, description: purpose })
  return step({ calls: [call], thought: `I want to ${purpose}.`, words: `I want to ${purpose}.` })
}

function readLostFile(context: StepContext): WorkerStep | undefined {
  const file = context.random.pick(context.state.files)
  if (file === undefined) return undefined
  const path = lostPath(context, file)
  const call = context.state.toolbox.call("read", { path: fullPath(path, context.state.root) })
  return step({ calls: [call], thought: `There should be a ${path} beside ${file}.`, words: `Reading ${path}.` })
}

/** Uses text that one of its own edits has replaced, as an agent does that relies on an old read. */
function repeatOldEdit({ state, random }: StepContext): WorkerStep | undefined {
  const replaced = state.calls.filter((call) => {
    if (toolRole(call.name) !== "edit" || call.result?.failed !== false) return false
    const [old, fresh] = [toolField(call, "old"), toolField(call, "new")]
    const view = state.views.get(fromRoot(toolPath(call) ?? "", state.root))
    return typeof old === "string" && typeof fresh === "string" && view !== undefined && !view.text.includes(old)
  })
  const earlier = random.pick(replaced)
  if (earlier === undefined) return undefined
  const [path, old, fresh] = [toolPath(earlier)!, toolField(earlier, "old"), toolField(earlier, "new")]
  const call = state.toolbox.call("edit", { path, old, new: `${fresh}, as before` })
  return call && editStep(call, fromRoot(path, state.root))
}

/** Once per task, if the user named a file for notes: reads the file, then writes it. */
export function writeWhereAsked(context: StepContext): WorkerStep | undefined {
  const { state, random } = context
  const { notes, root, views, missing } = state
  if (notes === undefined || listCalls(state.sinceTask).some((call) => isWriteTo(call, notes.path, root))) {
    return undefined
  }
  const before = views.get(notes.path)
  if (before === undefined && state.files.includes(notes.path) && !missing.has(notes.path)) {
    const others = state.files.filter((path) => path !== notes.path && !views.has(path))
    const paths = [notes.path, ...random.draw(others, 2)]
    const words = `You asked: "${notes.words}" Reading what is in ${notes.path}.`
    const thought = `The user wants notes in ${notes.path}.`
    const reading = step({ calls: paths.map((path) => planRead(context, path)), thought, words })
    return reading && { ...reading, isAnnounced: true }
  }
  const seen = filesSeen(state)
  const lines = seen.length > 0 ? seen : state.files.slice(0, 5).map((path) => `- ${path}`)
  const content = [before?.text.trimEnd(), notesText(context, lines)].filter((part) => part !== undefined).join("\n\n")
  const call = state.toolbox.call("write", { path: fullPath(notes.path, root), content })
  const thought = `${notes.path} is the place for notes.`
  const writing = step({ calls: [call], thought, words: `Notes go to ${notes.path}.` })
  return writing && { ...writing, isAnnounced: true }
}

function isWriteTo(call: ToolCall, path: string, root: string | undefined): boolean {
  const isDone = toolRole(call.name) === "write" && call.result?.failed === false
  return isDone && fromRoot(toolPath(call) ?? "", root) === path
}

/** Notes about an identifier that the files share, the task, and the files. */
function notesText(context: StepContext, lines: readonly string[]): string {
  return [`# ${pickWord(context)}`, "", `For: ${context.state.task.split("\n")[0]}`, "", ...lines, ""].join("\n")
}

/** The recently read files, each with its first line. */
function filesSeen({ views, notes }: StepContext["state"]): string[] {
  return [...views]
    .filter(([path]) => path !== notes?.path)
    .slice(-5)
    .map(([path, { text, firstLine }]) => `- ${path}, line ${firstLine}: ${text.split("\n")[0]!.trim()}`)
}

function writeNotes(context: StepContext): WorkerStep | undefined {
  const { state, random } = context
  if (state.notes) return undefined
  const lines = filesSeen(state)
  const content = notesText(context, lines)
  if (lines.length === 0) return undefined
  const topic = content.slice("# ".length, content.indexOf("\n"))
  // A few names only, so a long conversation does not fill the disk.
  const path = fullPath(`worker-notes/${hashText(topic) % 12}-${random.between(1, 3)}.md`, state.root)
  const call = state.toolbox.call("write", { path, content })
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
}): WorkerStep | undefined {
  const calls = given.calls.filter((call) => call !== undefined)
  return calls.length === 0 ? undefined : { ...given, calls }
}

function drawOrder(actions: readonly WeightedAction[], { random }: StepContext): WorkerAction[] {
  // Sorting by u^(1/weight) draws without replacement, in proportion to the weights.
  return actions
    .map(({ action, weight }) => ({ action, key: random.next() ** (1 / weight) }))
    .sort((one, other) => other.key - one.key)
    .map(({ action }) => action)
}
