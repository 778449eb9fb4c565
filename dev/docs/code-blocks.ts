/**
 * Reads the code blocks of a page, each with the output that it must show.
 *
 * An HTML comment directly before a block says how to run it, in clauses separated by semicolons:
 * - `run: prints /…/`     its output must match; may be given several times
 * - `run: cached`         the simulator served tokens from its cache
 * - `run: in NAME`        the block is a fragment: it replaces the line `// BLOCK` of dev/docs/around/NAME.ts
 * - `file: FILE`          the block is saved as FILE for later blocks of the page and is not run alone
 * - `not run: REASON`     for commands that take minutes or change the checkout
 * A settings file in JSON needs no comment. Every other block that runs names at least one output, or `cached`.
 */
export type Language = "ts" | "sh" | "json"

export interface CodeBlock {
  readonly page: string
  readonly line: number
  readonly language: Language
  readonly code: string
  readonly plan: RunPlan
}

export type RunPlan =
  | { readonly kind: "run"; readonly prints: readonly RegExp[]; readonly cached: boolean; readonly around?: string }
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "not run"; readonly reason: string }

const BLOCK =
  /(?:^[ \t]*<!--[ \t]*((?:(?!-->)[\s\S])*?)[ \t]*-->[ \t]*\n\s*)?^[ \t]*```(ts|sh|json)\n([\s\S]*?)^[ \t]*```[ \t]*$/gm

export function codeBlocks(page: string, markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(BLOCK)].map((found) => {
    const [whole, note = "", language, code] = found
    const line = markdown.slice(0, found.index + whole.indexOf("```")).split("\n").length
    return { page, line, language: language as Language, code: code!, plan: parsePlan(note, `${page}:${line}`) }
  })
}

function parsePlan(note: string, place: string): RunPlan {
  const [, kind, rest] = /^(run|file|not run):\s*([\s\S]*)$/.exec(note.trim()) ?? [undefined, "run", ""]
  if (kind === "file") return { kind, name: rest!.trim() }
  if (kind === "not run") return { kind, reason: rest!.trim() }
  const prints: RegExp[] = []
  let cached = false
  let around: string | undefined
  for (const clause of rest!.split(/;\s*/).filter((text) => text.trim() !== "")) {
    const pattern = /^prints \/(.*)\/([a-z]*)$/.exec(clause.trim())
    const inside = /^in ([\w-]+)$/.exec(clause.trim())
    if (pattern) prints.push(new RegExp(pattern[1]!, pattern[2]))
    else if (inside) around = inside[1]!
    else if (clause.trim() === "cached") cached = true
    else
      throw new Error(`${place}: the comment before this block says "${clause.trim()}", which is not a known clause.`)
  }
  return { kind: "run", prints, cached, ...(around === undefined ? {} : { around }) }
}
