/** `/export`: this conversation as a file for people or for Claude Code. Nothing is overwritten. */
import { writeFile } from "node:fs/promises"
import { extname, relative, resolve, sep } from "node:path"
import { internalsOf } from "@strata/core/conversation"
import { EXPORT_FORMATS, type ExportFormat, exportTranscript, readTranscripts } from "@strata/transcripts"
import { pluralize } from "../display/numbers.ts"
import { escapeToLine } from "../display/visible.ts"
import { sessionFile } from "../export/session-file.ts"
import type { CommandTarget } from "./command-target.ts"

const OWNER_ONLY = 0o600
const MAX_TRIES = 100 // file names with a number appended

export interface ExportRequest {
  readonly to: ExportFormat
  readonly file?: string
}

/** `claude-code`, `notes.md`, or both. */
export function readExportRequest(argument: string): ExportRequest {
  const [, first = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument.trim())!
  const to = EXPORT_FORMATS.find((format) => format === first)
  const file = (to === undefined ? argument : rest).trim()
  return { to: to ?? "markdown", ...(file === "" ? {} : { file }) }
}

export async function exportConversation(target: CommandTarget, argument: string): Promise<void> {
  const { conversation } = target.agent
  if (internalsOf(conversation).views.context.isEmpty) return target.notice("There is nothing to export yet.")
  const { cwd, env } = target.place
  const { to, file } = readExportRequest(argument)
  const source = internalsOf(conversation).journalFile ?? (await sessionFile(conversation.id, { cwd, env }))
  const [transcript] = await readTranscripts(source, { env })
  const exported = await exportTranscript(transcript!, { to, ...(env.HOME ? { home: env.HOME } : {}) })
  const shown = (path: string) => escapeToLine(path.startsWith(cwd + sep) ? relative(cwd, path) : path)
  const wanted = resolve(cwd, file ?? exported.name)
  const path = await writeNew(wanted, { text: exported.text, mayRename: file === undefined })
  if (path === undefined)
    return target.notice(`${shown(wanted)} exists already. Nothing was written. Give another name: /export ${to} FILE`)
  const left = Object.entries(exported.omitted).map(([what, count]) => `${count} ${what}`)
  target.notice(
    [
      `Exported as ${to} to ${shown(path)}.`,
      ...(exported.secrets === 0 ? [] : [`${pluralize(exported.secrets, "secret was", "secrets were")} masked.`]),
      ...(left.length === 0 ? [] : [`Omitted: ${left.join(", ")}.`]),
    ].join(" "),
  )
}

interface NewFile {
  readonly text: string
  /** Strata chose the name, so a number may be appended. */
  readonly mayRename: boolean
}

/** Resolves with the path, or `undefined` if the file exists. A symbolic link counts as existing. */
async function writeNew(wanted: string, { text, mayRename }: NewFile): Promise<string | undefined> {
  const extension = extname(wanted)
  const stem = wanted.slice(0, wanted.length - extension.length)
  for (let nth = 1; nth <= (mayRename ? MAX_TRIES : 1); nth++) {
    const path = nth === 1 ? wanted : `${stem}-${nth}${extension}`
    try {
      await writeFile(path, text, { flag: "wx", mode: OWNER_ONLY })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  }
  return undefined
}
