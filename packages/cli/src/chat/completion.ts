/** Completions for the word at the cursor: a command after `/`, a file after `@`. Pure: the chat provides the names. */
import type { Editor } from "./editor.ts"

export interface Completion {
  readonly commands: readonly OfferedCommand[]
  /** Paths below the working directory. Absent until the first search. */
  readonly files?: readonly string[]
  /** Index of the selected line of the menu. */
  readonly selected: number
  /** Start offset of the word whose menu was closed. */
  readonly closed?: number
}

export interface OfferedCommand {
  /** The name without the slash. */
  readonly name: string
  readonly usage: string
  readonly about: string
}

export const NO_COMPLETION: Completion = { commands: [], selected: 0 }

/** The word that can be completed, including its `/` or `@`. */
export interface Trigger {
  readonly kind: "command" | "file"
  readonly from: number
  readonly to: number
  /** The text between the `/` or `@` and the cursor. */
  readonly typed: string
}

export interface CompletionChoice {
  readonly label: string
  readonly about: string
  /** Text that replaces the word. */
  readonly text: string
}

export interface Menu {
  readonly trigger: Trigger
  readonly choices: readonly CompletionChoice[]
  readonly selected: number
}

const COMMAND = /^\/[^\s/]*$/
/** Requires a blank before the `@`, so that `me@example.org` offers no files. Quotes are for paths with blanks. */
const FILE = /(?:^|\s)(@(?:"([^"\n]*)|([^\s"]*)))$/

export function triggerAt({ text, cursor }: Editor): Trigger | undefined {
  if (COMMAND.test(text) && cursor > 0) return { kind: "command", from: 0, to: text.length, typed: text.slice(1) }
  const [, word, quoted, plain] = FILE.exec(text.slice(0, cursor)) ?? []
  if (word === undefined) return undefined
  const rest = (quoted === undefined ? /^[^\s"]*/ : /^[^"\n]*"?/).exec(text.slice(cursor))![0]
  return { kind: "file", from: cursor - word.length, to: cursor + rest.length, typed: quoted ?? plain ?? "" }
}

/** `undefined` if there is no match, the word is complete, or the user closed the menu. */
export function menuFor(editor: Editor, completion: Completion): Menu | undefined {
  const trigger = triggerAt(editor)
  if (!trigger || trigger.from === completion.closed) return undefined
  const choices =
    trigger.kind === "command"
      ? commandChoices(trigger.typed, completion.commands)
      : fileChoices(trigger.typed, completion.files ?? [])
  return choices.length === 0 ? undefined : { trigger, choices, selected: completion.selected }
}

/** A change of the input line selects the first choice again. A closed menu stays closed for its word. */
export function completionAfter(completion: Completion, after: Editor): Completion {
  const { closed, ...open } = completion
  const stays = closed !== undefined && triggerAt(after)?.from === closed
  return { ...open, selected: 0, ...(stays ? { closed } : {}) }
}

export function withSelected(completion: Completion, { choices, selected }: Menu, step: 1 | -1): Completion {
  return { ...completion, selected: (selected + step + choices.length) % choices.length }
}

/** The input line with the chosen text and a blank after it. */
export function applyCompletion({ text }: Editor, { trigger: { from, to }, choices, selected }: Menu): Editor {
  const start = `${text.slice(0, from)}${choices[selected]!.text} `
  return { text: start + text.slice(to).replace(/^ /, ""), cursor: start.length }
}

/** Exact matches first, then names with this prefix, then names that contain the text. */
function commandChoices(typed: string, commands: readonly OfferedCommand[]): readonly CompletionChoice[] {
  const wanted = typed.toLowerCase()
  const rank = ({ name }: OfferedCommand) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2)
  return commands
    .filter(({ name }) => name.includes(wanted))
    .sort((a, b) => rank(a) - rank(b)) // the sort is stable, so ties keep the order of the list
    .map(({ name, usage, about }) => ({ label: usage, about, text: `/${name}` }))
}

interface RankedFile {
  readonly path: string
  readonly rank: number
}

/** Cache of the last result, because screen and keyboard ask for the same choices. */
const lastChoices = new WeakMap<
  readonly string[],
  { readonly typed: string; readonly choices: readonly CompletionChoice[] }
>()

function fileChoices(typed: string, files: readonly string[]): readonly CompletionChoice[] {
  const last = lastChoices.get(files)
  if (last?.typed === typed) return last.choices
  const wanted = typed.replace(/^\.\//, "").toLowerCase()
  const ranked = files.flatMap((path): readonly RankedFile[] => {
    const rank = rankFile(path.toLowerCase(), wanted)
    return rank === undefined ? [] : [{ path, rank }]
  })
  const isComplete = ranked.some(({ path }) => path === typed)
  const choices = isComplete
    ? []
    : ranked.sort(byRank).map(({ path }) => ({ label: path, about: "", text: mention(path) }))
  lastChoices.set(files, { typed, choices })
  return choices
}

function byRank(a: RankedFile, b: RankedFile): number {
  const depth = ({ path }: RankedFile) => path.split("/").length
  return a.rank - b.rank || depth(a) - depth(b) || (a.path < b.path ? -1 : 1)
}

/** Lower ranks are better: a match in the file name comes before one in its directories. Letters in this order with gaps come last. */
function rankFile(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1)
  if (name.startsWith(wanted)) return 0
  if (path.startsWith(wanted)) return 1
  if (name.includes(wanted)) return 2
  if (path.includes(wanted)) return 3
  let at = -1
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1)
    if (at < 0) return undefined
  }
  return 4
}

const mention = (path: string): string => (/\s/.test(path) ? `@"${path}"` : `@${path}`)
