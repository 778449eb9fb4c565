/**
 * `strata memory edit`: the person's editor works on a copy. What they saved becomes one change of theirs, merged with what changed meanwhile.
 * If it cannot be stored, their text stays in the copy.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import type { Memory, MemoryBank, MemoryChange } from "@strata/core/internal"
import { type Call, UsageError } from "../command.ts"
import { editorOf, runEditor } from "../text-editor.ts"

export type Edited =
  | { readonly state: "unchanged" }
  | { readonly state: "changed"; readonly change: MemoryChange }
  /** The editor failed, or the text is empty. `why` is a sentence. */
  | { readonly state: "given-up"; readonly why: string }

export interface EditInput {
  readonly bank: MemoryBank
  readonly memory: Memory
  readonly env: Call["env"]
}

export async function editMemory({ bank, memory, env }: EditInput): Promise<Edited> {
  const { file } = memory
  const editor = editorOf(env)
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

interface Storing {
  readonly bank: MemoryBank
  readonly file: string
  readonly before: string
  readonly text: string
  readonly directory: string
}

async function store({ bank, file, before, text, directory }: Storing): Promise<Edited> {
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
    throw new Error(`${reason} Your text is kept in ${kept}`, { cause: error })
  }
}
