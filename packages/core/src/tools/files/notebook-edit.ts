/** NotebookEdit: replaces, inserts or deletes one cell of a Jupyter notebook that was read and has not changed since. */
import { createHash } from "node:crypto"
import * as z from "zod/v4"
import type { Tool } from "../tool.ts"
import { readTextIfPresent, type TextFile } from "./file-content.ts"
import { formatDiff, formatFullDiff } from "./file-diff.ts"
import { FileError, ignoreFileError } from "./file-error.ts"
import { enqueueChange } from "./file-queue.ts"
import { missingFile, resolveTarget, shortPath, type Target } from "./paths.ts"
import { refuseUnlessKnown, storeText } from "./read-before-write.ts"

const RESULT_DIFF_LINES = 40
const ID_CHARACTERS = 8 // as in ids that Jupyter generates
const USUAL_INDENT = " " // usual indentation of notebook files

const inputSchema = z.object({
  notebook_path: z.string().min(1).describe("The .ipynb file. Absolute, or relative to the working directory."),
  cell_id: z
    .string()
    .optional()
    .describe('The cell: its id, or its place such as "0" for the first. For insert: the new cell comes after it.'),
  new_source: z.string().optional().describe("The new source of the cell. Not for delete."),
  cell_type: z.enum(["code", "markdown"]).optional().describe("Needed for insert. Default: the type the cell has."),
  edit_mode: z.enum(["replace", "insert", "delete"]).optional().describe("Default: replace."),
})
type NotebookInput = z.infer<typeof inputSchema>

interface Cell {
  readonly id?: string
  readonly cell_type: string
  readonly source: string | readonly string[]
  readonly [field: string]: unknown
}

interface Notebook {
  readonly cells: readonly Cell[]
  readonly nbformat?: number
  readonly nbformat_minor?: number
  readonly [field: string]: unknown
}

export const notebookEdit: Tool<NotebookInput> = {
  name: "NotebookEdit",
  description: `Changes one cell of a Jupyter notebook (.ipynb): replaces its source, inserts a cell after it, or deletes it.

- Read the notebook first. It must not have changed since.
- Without cell_id, insert puts the cell at the beginning.
- The outputs of a code cell that changes are removed: they belong to the old source. All other cells stay as they are.`,
  inputSchema,

  async question(input, context) {
    const target = await resolveTarget(input.notebook_path, context)
    const before = await readTextIfPresent(target, context).catch(ignoreFileError)
    const name = shortPath(target.path, context.directory.get())
    const after = before && (await orUndefined(() => editNotebook({ target, before, input, seed: context.toolUseId })))
    const preview = before && after !== undefined ? { preview: formatFullDiff({ before: before.text, after }) } : {}
    return { kind: "write", summary: `edit a cell of ${name}`, paths: [target.path], ...preview }
  },

  async execute(input, context) {
    const target = await resolveTarget(input.notebook_path, context)
    return enqueueChange(target.path, async () => {
      const before = await readTextIfPresent(target, context)
      if (!before) throw await missingFile(target, context.directory.get())
      refuseUnlessKnown({ target, current: before, reads: context.reads })
      const text = editNotebook({ target, before, input, seed: context.toolUseId })
      const recorded = await storeText({ target, before, after: { text, encoding: before.encoding }, context })
      const diff = formatDiff({ before: before.text, after: text, maxLines: RESULT_DIFF_LINES })
      return { content: `Updated ${target.inputPath}.\n${diff}`, touched: [target.path], ...recorded }
    })
  },
}

async function orUndefined<T>(work: () => T): Promise<T | undefined> {
  try {
    return work()
  } catch (error) {
    return ignoreFileError(error)
  }
}

interface CellEdit {
  readonly target: Target
  readonly before: TextFile
  readonly input: NotebookInput
  /** Seed for the id of a new cell. */
  readonly seed: string
}

function editNotebook({ target, before, input, seed }: CellEdit): string {
  const notebook = parseNotebook(target, before.text)
  const { cells } = notebook
  const { edit_mode: mode = "replace" } = input
  const at = findCell(input.cell_id, cells)
  if (input.cell_id !== undefined && at < 0)
    throw new FileError(
      `${target.inputPath} has no cell ${JSON.stringify(input.cell_id)}. Nothing was changed. It has ${cells.length} cells: give an id, or a place from 0 to ${cells.length - 1}.`,
    )
  if (mode !== "insert" && at < 0) throw new FileError(`To ${mode} a cell, name it with cell_id. Nothing was changed.`)
  if (mode !== "delete" && input.new_source === undefined)
    throw new FileError(`To ${mode} a cell, give its new_source. Nothing was changed.`)
  return serializeNotebook(before.text, { ...notebook, cells: cellsAfter(mode, { notebook, at, input, seed }) })
}

interface CellChange extends Pick<CellEdit, "input" | "seed"> {
  readonly notebook: Notebook
  readonly at: number
}

function cellsAfter(mode: "replace" | "insert" | "delete", { notebook, at, input, seed }: CellChange): readonly Cell[] {
  const { cells } = notebook
  if (mode === "delete") return cells.toSpliced(at, 1)
  const source = input.new_source ?? ""
  if (mode === "replace") return cells.with(at, replaceCell(cells[at]!, { source, type: input.cell_type }))
  if (input.cell_type === undefined)
    throw new FileError("To insert a cell, say its cell_type: code or markdown. Nothing was changed.")
  const { nbformat = 4, nbformat_minor: minor = 0 } = notebook
  const hasIds = nbformat > 4 || (nbformat === 4 && minor >= 5) // older formats do not allow ids
  const id = hasIds ? { id: createHash("sha256").update(seed).digest("hex").slice(0, ID_CHARACTERS) } : {}
  return cells.toSpliced(at + 1, 0, {
    ...id,
    ...emptyCell(input.cell_type),
    metadata: {},
    source: splitSource(source),
  } as Cell)
}

function replaceCell(
  cell: Cell,
  { source, type = cell.cell_type }: { source: string; type: string | undefined },
): Cell {
  const { outputs: _, execution_count: __, ...rest } = cell
  const newSource = typeof cell.source === "string" ? source : splitSource(source)
  return { ...rest, ...emptyCell(type), source: newSource }
}

const emptyCell = (type: string) =>
  type === "code" ? { cell_type: type, outputs: [], execution_count: null } : { cell_type: type }

/** Splits a source as notebooks store it: each line with its line ending. */
const splitSource = (source: string): readonly string[] => source.split(/(?<=\n)/).filter((line) => line !== "")

function findCell(named: string | undefined, cells: readonly Cell[]): number {
  if (named === undefined) return -1
  const byId = cells.findIndex(({ id }) => id === named)
  if (byId >= 0 || !/^(?:cell-)?\d+$/.test(named)) return byId
  const place = Number(named.replace("cell-", ""))
  return place < cells.length ? place : -1
}

function parseNotebook({ inputPath }: Target, text: string): Notebook {
  const isNotebook = (value: unknown): value is Notebook =>
    typeof value === "object" && value !== null && Array.isArray((value as Partial<Notebook>).cells)
  try {
    const value: unknown = JSON.parse(text)
    if (isNotebook(value)) return value
  } catch {
    // the error below covers invalid JSON
  }
  throw new FileError(
    `${inputPath} is no Jupyter notebook: it has no list of cells. Nothing was changed. Use Edit for it.`,
  )
}

/** Serializes the notebook with the original indentation and final newline. */
function serializeNotebook(before: string, notebook: Notebook): string {
  const indent = /^\{\r?\n([ \t]+)"/.exec(before)?.[1] ?? USUAL_INDENT
  return `${JSON.stringify(notebook, null, indent)}${before.endsWith("\n") ? "\n" : ""}`
}
