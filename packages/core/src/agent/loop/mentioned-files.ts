/**
 * Attaches files that a message mentions as `@path`. Each is read with the Read tool, including its rules, hooks and limits. Images and
 * PDFs become part of the message. Files that need approval are not sent. A word that is not a file name is ignored.
 */
import { stat } from "node:fs/promises"
import type { Attachment } from "../../messages/attachments.ts"
import type { Block, ToolUse } from "../../messages/blocks.ts"
import { resolveTarget } from "../../tools/files/paths.ts"
import { read } from "../../tools/files/read.ts"
import type { ReadState } from "../../tools/tool.ts"
import { NO_ONE_TO_ASK } from "../permissions/authorize-call.ts"
import { Refusals } from "./refusals.ts"
import { runTools, type ToolRun } from "./run-tools.ts"

const MAX_FILES = 10 // each may have up to 25,000 tokens
const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g
/** Trailing punctuation, which belongs to the sentence and not to the path. */
const PUNCTUATION = /[.,;:!?)\]}>'`]+$/

export interface MentionedFiles {
  readonly attachments: readonly Attachment[]
  /** Images and documents as blocks of the message. */
  readonly media: readonly MentionedMedia[]
  /** Sentences for the user about files that were not attached. */
  readonly problems: readonly string[]
  readonly touched: readonly string[]
}

export interface MentionedMedia {
  readonly path: string
  readonly block: Block
}

const NO_FILES: MentionedFiles = { attachments: [], media: [], problems: [], touched: [] }

export async function mentionedFiles(text: string, run: ToolRun): Promise<MentionedFiles> {
  const files = run.tools.some(({ name }) => name === read.name) ? await findMentionedFiles(text, run) : []
  if (files.length === 0) return NO_FILES
  const calls = files.slice(0, MAX_FILES).map(toReadCall)
  const { askPermission: _, ...rules } = run
  const running = runTools(calls, {
    ...rules,
    refusals: new Refusals(),
    context: { ...run.context, reads: readWithoutCall(run.context.reads) },
  })
  const problems: string[] = []
  const refused = new Map<string, string>()
  const paths = new Map(calls.map(({ id }, i) => [id, files[i]!]))
  let step = await running.next()
  for (; !step.done; step = await running.next()) {
    if (step.value.type === "notice") problems.push(step.value.message)
    if (step.value.type === "tool-start")
      paths.set(step.value.id, (step.value.input as { file_path: string }).file_path) // a hook may have changed the path
    if (step.value.type === "tool-denied") refused.set(step.value.id, step.value.why)
  }
  const { results, attachments, touched } = step.value
  const media: MentionedMedia[] = []
  const shown = results.flatMap(({ tool_use_id: id, content, is_error }): readonly Attachment[] => {
    const path = paths.get(id)!
    const why = refused.get(id)?.replace(`, and ${NO_ONE_TO_ASK}`, "") ?? (is_error ? String(content) : undefined)
    if (why === undefined && typeof content === "string") return [{ type: "file", path, content }]
    if (why === undefined) media.push(...mediaOf(content as readonly Block[]).map((block) => ({ path, block })))
    else problems.push(notAttached(path, why))
    return []
  })
  if (files.length > MAX_FILES)
    problems.push(`Only the first ${MAX_FILES} of ${files.length} files were attached. The agent can read the others.`)
  return { attachments: [...shown, ...attachments], media, problems, touched }
}

const mediaOf = (blocks: readonly Block[]) => blocks.filter(({ type }) => type === "image" || type === "document")

export const notAttached = (path: string, why: string): string =>
  `@${path} was not attached: ${why.replace(/\.$/, "")}.`

const toReadCall = (path: string, i: number): ToolUse => ({
  type: "tool_use",
  id: `mention_${i + 1}`,
  name: read.name,
  input: { file_path: path },
})

/** Mentioned files as written in the message, without duplicates. */
async function findMentionedFiles(text: string, { context }: Pick<ToolRun, "context">): Promise<readonly string[]> {
  const isFile = async (path: string) => {
    const found = await resolveTarget(path, context)
      .then((target) => stat(target.path))
      .catch(() => undefined) // not a path
    return found?.isFile() ?? false
  }
  const found = new Set<string>()
  for (const [, quoted, plain = ""] of text.matchAll(MENTION)) {
    const candidates = quoted === undefined ? [plain, plain.replace(PUNCTUATION, "")] : [quoted]
    for (const path of candidates) {
      if (path === "" || !(await isFile(path))) continue
      found.add(path)
      break
    }
  }
  return [...found]
}

/** Records these reads without a call id, because no call in the conversation shows them, so that a later Read shows the file again. */
function readWithoutCall(reads: ReadState): ReadState {
  return {
    get: (path) => reads.get(path),
    set: (path, { toolUseId: _, ...shown }) => reads.set(path, shown),
    forget: (path) => reads.forget(path),
    entries: () => reads.entries(),
  }
}
