/**
 * Commands that change memory: `edit`, `forget` and `revert`. Each makes one change in the user's name, which can be reverted unless it is
 * an erasure.
 */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Memory, type MemoryBank, StrataError } from "@strata/core"
import type { MemoryChange } from "@strata/core/memory"
import { authorLabel, formatMinute, MEMORY_INDEX } from "@strata/page"
import { type CommandCall, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine } from "../display/visible.ts"
import { findEditor, runEditor } from "../text-editor.ts"
import { findMemory } from "./find-memory.ts"
import { describeMemoryChange, diffLines } from "./page.ts"

const DONE = 0
const NOT_DONE = 1

interface MemoryChangeOptions {
  readonly bank: MemoryBank
  readonly terminal: Terminal
}

const describeUndoHint = ({ id }: MemoryChange): string => `Revert it with: strata memory revert ${id}\n`

export async function edit(
  name: string,
  { bank, terminal, env }: MemoryChangeOptions & Pick<CommandCall, "env">,
): Promise<number> {
  const memory = findMemory(await bank.all(), name)
  const edited = await editMemory({ bank, memory, env })
  if (edited.state === "given-up") {
    terminal.complain(`${edited.why} Nothing was changed.\n`)
    return NOT_DONE
  }
  if (edited.state === "unchanged") terminal.print("Nothing was changed.\n")
  else {
    const kinds = edited.change.masked?.map(({ kind }) => kind) ?? []
    if (kinds.length > 0)
      terminal.complain(`Memories must not contain secrets. Removed from your text: ${kinds.join(", ")}.\n`)
    terminal.print(`${escapeToLine(memory.file)} is changed. ${describeUndoHint(edited.change)}`)
  }
  return DONE
}

export async function forget(name: string, { bank, terminal }: MemoryChangeOptions): Promise<number> {
  const memory = findMemory(await bank.all(), name)
  const change = await bank.change({ by: "person", why: "Forgotten on request", removals: [memory.file] })
  if (!change) throw new UsageError(`${memory.file} no longer exists.`)
  const archived = change.files.find(({ path }) => path === memory.file)?.archived
  terminal.print(`"${escapeToLine(memory.name)}" is forgotten.`)
  terminal.print(
    archived === undefined ? " " : ` The text is stored in ${escapeToLine(`${bank.location}/${archived}`)}\n`,
  )
  terminal.print(describeUndoHint(change))
  return DONE
}

interface EraseMemoryOptions extends MemoryChangeOptions {
  readonly isSure: boolean
}

/** Erases a memory for good, for example one with a secret. Finds forgotten memories too. */
export async function erase(name: string, { bank, terminal, isSure }: EraseMemoryOptions) {
  const file = await erasable(bank, name)
  if (!isSure && !isAtTerminal())
    throw new UsageError(`strata memory forget --erase asks at a terminal. In scripts, add --yes`)
  const question = `Erase ${escapeToLine(file)} for good, also from the archive and the history? yes or no: `
  if (!isSure && (await promptForChoice(question, ["yes", "no"])) !== "yes") {
    terminal.print("Nothing was changed.\n")
    return NOT_DONE
  }
  const { source } = (await bank.get(file)) ?? {}
  try {
    await bank.erase(file)
  } catch (error) {
    if (!(error instanceof StrataError) || error.code !== "dream-running") throw error
    terminal.complain(
      "A dream is running, and its copy has this memory in it. Nothing was changed. End it first: strata dream kill\n",
    )
    return NOT_DONE
  }
  terminal.print(`${escapeToLine(file)} is erased: the file, the archive and the history have nothing of it.\n`)
  const where =
    source?.conversation === undefined ? "If it came from a conversation, that" : `Conversation ${source.conversation}`
  terminal.print(
    `${where} still has it in its journal, and search finds it there. Delete the journal to remove it there too.\n`,
  )
  return DONE
}

/** The file of a memory, including memories that only the history contains. */
async function erasable(bank: MemoryBank, name: string): Promise<string> {
  const paths = new Set((await bank.history()).flatMap(({ files }) => files.map(({ path }) => path)))
  const known = [name, `${name}.md`].find((path) => path !== MEMORY_INDEX && paths.has(path))
  return known ?? findMemory(await bank.all(), name).file
}

export async function revert(
  id: string,
  { bank, terminal, isSure }: MemoryChangeOptions & { readonly isSure: boolean },
) {
  const change = await changeOf(bank, id)
  showChange(change, { diff: await bank.diff(change.id), terminal })
  if (!isSure && !isAtTerminal())
    throw new UsageError(`strata memory revert asks at a terminal. In scripts, use: strata memory revert ${id} --yes`)
  const answer = isSure ? "yes" : await promptForChoice("\nRevert this change? yes or no: ", ["yes", "no"])
  if (answer !== "yes") {
    terminal.print("Nothing was changed.\n")
    return NOT_DONE
  }
  const reverted = await bank.revert(change.id)
  if (!reverted) terminal.print("That change has already been reverted. Nothing was changed.\n")
  else terminal.print(`Change ${change.id} was reverted. ${describeUndoHint(reverted)}`)
  return DONE
}

export async function changeOf(bank: MemoryBank, id: string): Promise<MemoryChange> {
  const change = (await bank.history()).find((one) => one.id === id)
  if (change) return change
  throw new UsageError(`There is no change ${id} in this project's memory. "strata memory history" lists them.`)
}

export function showChange(change: MemoryChange, { diff, terminal }: { diff: string; terminal: Terminal }): void {
  const { style } = terminal
  const title = `Change ${change.id}, ${formatMinute(change.at)} UTC, by ${authorLabel(change.by)}`
  const lines = [style.bold(title), escapeToLine(describeMemoryChange(change)), "", ...diffLines(diff, terminal)]
  terminal.print(`${lines.join("\n")}\n`)
}

const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

/**
 * Result of `strata memory edit`: the user's editor works on a copy. The saved text becomes one change of the user, merged with changes
 * made meanwhile. If it cannot be stored, the text stays in the copy.
 */
type EditResult =
  | { readonly state: "unchanged" }
  | { readonly state: "changed"; readonly change: MemoryChange }
  /** The editor failed, or the text is empty. `why` is a sentence. */
  | { readonly state: "given-up"; readonly why: string }

interface EditInput {
  readonly bank: MemoryBank
  readonly memory: Memory
  readonly env: CommandCall["env"]
}

async function editMemory({ bank, memory, env }: EditInput): Promise<EditResult> {
  const { file } = memory
  const editor = findEditor(env)
  if (!editor)
    throw new UsageError(`No editor is set. Set EDITOR, or edit ${bank.directory ?? bank.location}/${file} yourself.`)
  const before = (await bank.text(file)) ?? ""
  const directory = await mkdtemp(join(tmpdir(), "strata-memory-"))
  const copy = join(directory, basename(file))
  try {
    await writeFile(copy, before, { mode: 0o600 })
    const code = await runEditor(editor, copy)
    if (code !== 0) return { state: "given-up", why: `The editor ended with code ${code}.` }
    const text = await readFile(copy, "utf8")
    if (text.trim() === "")
      return { state: "given-up", why: 'The text is empty. "strata memory forget" removes a memory.' }
    if (text === before) return { state: "unchanged" }
    return await store({ bank, file, before, text, directory })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface StoreEditOptions {
  readonly bank: MemoryBank
  readonly file: string
  readonly before: string
  readonly text: string
  readonly directory: string
}

async function store({ bank, file, before, text, directory }: StoreEditOptions): Promise<EditResult> {
  try {
    const base = new Map([[file, before]])
    const change = await bank.change({
      by: "person",
      why: "Edited with strata memory edit",
      puts: [{ file, text }],
      base,
    })
    return change ? { state: "changed", change } : { state: "unchanged" }
  } catch (error) {
    const kept = `${directory}.md`
    await writeFile(kept, text, { mode: 0o600 })
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${reason} Your text is stored in ${kept}`, { cause: error })
  }
}
