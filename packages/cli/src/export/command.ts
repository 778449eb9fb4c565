/** `strata export`: exports a session for Claude Code, or as Markdown. */
import { rename, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { EXPORT_FORMATS, exportTranscript, readTranscripts } from "@strata/transcripts"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { EXPORT } from "../descriptions.ts"
import { formatNumber, pluralize } from "../display/numbers.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"
import { sessionFile } from "./session-file.ts"

const DONE = 0

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(EXPORT, args)
  if (values.to === undefined) throw new UsageError(`Say for whom: --to ${EXPORT_FORMATS.join("|")}.`)
  const transcripts = await readTranscripts(await sessionFile(operands[0]!, { cwd, env }), { env })
  const [transcript] = transcripts
  if (!transcript) throw new UsageError(`There is no conversation in ${operands[0]}.`)
  const { text, secrets, omitted } = await exportTranscript(transcript, {
    ...{ to: values.to, maskSecrets: !values["with-secrets"], home: env.HOME || homedir() },
  })
  const file = operands[1] === undefined ? undefined : resolve(cwd, operands[1])
  if (file === undefined) terminal.print(terminal.isScreen ? escapeForTerminal(text) : text)
  else await writeExport(file, { text, force: values.force })
  const notes = [
    ...(file === undefined ? [] : [`Written: ${escapeToLine(file)}`]),
    values["with-secrets"]
      ? "Secrets and paths are as they were. Do not give this file away."
      : `Secrets masked in ${pluralize(secrets, "place")}, home directories shortened. Read it before you give it away: no search finds every secret.`,
    ...(transcripts.length > 1 ? [`The file has ${transcripts.length} conversations; this is the first.`] : []),
    ...Object.entries(omitted).map(([what, count]) => `Omitted: ${what} (${formatNumber(count)}).`),
  ]
  terminal.complain(`${notes.join("\n")}\n`)
  return DONE
}

const FILE_MODE = 0o600

/** Replaces a file or a symbolic link, never the link's target. The new file is complete and readable by its owner only. */
async function writeExport(file: string, { text, force }: { readonly text: string; readonly force: boolean }) {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.draft`)
  try {
    await writeFile(force ? draft : file, text, { flag: "wx", mode: FILE_MODE })
    if (force) await rename(draft, file)
  } catch (error) {
    if (force) await rm(draft, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "EEXIST" && !force)
      throw new UsageError(`${file} is there already. Nothing was written. --force replaces it.`)
    const why = code === "EISDIR" ? "it is a directory" : (code ?? message)
    throw new UsageError(`${file} cannot be written (${why}). Nothing was changed. Name another file.`)
  }
}
