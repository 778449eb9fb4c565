/** What a redirection does: the file it reads or writes, or the text it gives to the command. */
import type { HereDoc, Redirection } from "unbash"
import { expandToOne, fieldOf, type Surroundings } from "./fields.ts"
import { checkShown, runInside } from "./inside-words.ts"
import { filesOf } from "./judged.ts"
import type { ShellState } from "./shell-state.ts"

const READS = new Set(["<", "<&", "<>"])
const ONLY_READS = new Set(["<", "<&"])

export function redirect(redirection: Redirection, shell: ShellState): void {
  const { findings } = shell
  if (redirection.type === "HereDoc") {
    shell.mark("here-document", redirection)
    if (!isPlainDelimiter(redirection)) findings.addHidden("Where its here-document ends is not certain.")
    for (const part of redirection.body.parts ?? []) {
      runInside(part, shell)
      checkShown(fieldOf(part, shell.surroundings), shell)
    }
    return
  }
  if (!redirection.target) {
    findings.addHidden("It has a redirection without a target.")
    return
  }
  runInside(redirection.target, shell)
  const target = expandToOne(redirection.target, shell.surroundings)
  if (redirection.type === "HereString") {
    checkShown(target, shell)
    shell.mark("here-document", redirection)
    return
  }
  const isCopy = redirection.operator.endsWith("&") && /^(?:\d+|-|\d+-)$/.test(target.text ?? "")
  if (isCopy) return
  if (/^\/dev\/(?:tcp|udp)\//.test(target.text ?? "")) {
    findings.addHidden("It opens a network connection.")
    return
  }
  const uses = filesOf(target, shell.place(), { isDashFile: true })
  if (uses.length > 0) shell.mark("redirection", redirection)
  if (!ONLY_READS.has(redirection.operator)) findings.writes.push(...uses)
  if (READS.has(redirection.operator)) findings.reads.push(...uses)
  if (uses.some(({ path }) => path === undefined))
    findings.addUnknown("It redirects to or from a file that is only known when it runs.")
}

/** Bash compares the last line with how it would write an expansion, a parser with how the line writes it. */
function isPlainDelimiter({ delimiter, closing }: HereDoc): boolean {
  return closing !== undefined && /^(?:\\?[\w.-]+|'[\w.-]+'|"[\w.-]+")$/.test(delimiter?.text ?? "")
}

/** Not if it leads nowhere, copies standard output or error, or brings text. */
export function mayFail(redirection: Redirection): boolean {
  if (redirection.type === "HereDoc" || redirection.type === "HereString") return false
  const target = redirection.target?.text ?? ""
  return target !== "/dev/null" && !(redirection.operator === ">&" && /^[12]$/.test(target))
}

/** The text that a here-document or here-string gives to the command. Of several, the last one counts. */
export function inputAmong(
  redirections: readonly Redirection[],
  surroundings: Surroundings,
): { readonly text: string | undefined } | undefined {
  const given = redirections.findLast(({ type }) => type === "HereDoc" || type === "HereString")
  if (given?.type === "HereString") return { text: given.target && expandToOne(given.target, surroundings).text }
  if (given?.type !== "HereDoc") return undefined
  const { body, delimiter } = given
  const isPlain = delimiter?.quoted || !/[$`\\]/.test(body.text)
  return { text: isPlain ? body.text : undefined }
}
