/** The user's rules: which of them a planned call obeys, how they are acknowledged, and the file in which the user wants notes. */
import { type PlannedCall, type Rule, sentencesOf, toolRole } from "@strata/core/offline"

const NOTES_FILE = /\b(?:notes|findings)\b[^.!?\n]*?\b(?:in|into|to) ((?:[\w@-]+\/)*[\w@-]+\.[a-z]{1,5})\b/i
const RULE = /^(?:please )?(?:from now on,? )?(never|always|do not|don['’]t) (.+?)[.!]*$/i

/** Whether a sentence says only how to work. */
export const isRule = (sentence: string): boolean => RULE.test(sentence)

/** "I will never delete a file." for "Never delete a file." */
export const promiseOf = (rule: string): string =>
  rule.replace(RULE, (_, word: string, rest: string) => {
    return `I will ${/^do/i.test(word) ? "not" : word.toLowerCase()} ${rest}.`
  })

/** The file that the user wants notes in. */
export interface NotesFile {
  readonly path: string
  /** The user's request, verbatim. */
  readonly words: string
}

/** Finds the newest request. */
export function findNotesFile(userTexts: readonly string[]): NotesFile | undefined {
  const words = userTexts.flatMap(sentencesOf).findLast((sentence) => NOTES_FILE.test(sentence))
  return words === undefined ? undefined : { path: NOTES_FILE.exec(words)![1]!, words }
}

/** Whether a planned call obeys a rule. Paths in rules are relative to the root. */
export function obeys(rule: Rule, { call, root = "" }: { call: PlannedCall; root: string | undefined }): boolean {
  const role = toolRole(call.name)
  if (rule.paths.length === 0) return role === "other" || !rule.roles.includes(role)
  if (rule.roles.length > 0 && role !== "shell" && (role === "other" || !rule.roles.includes(role))) return true
  const target = [call.input.command, call.input.path, call.input.file_path]
    .filter(isText)
    .join(" ")
    .replaceAll(`${root}/`, "/")
  if (target === "") return true
  const named = rule.paths.some((path) => mentions(target, path))
  if (rule.kind === "avoid") return !named
  return named || !["read", "edit", "write"].includes(role)
}

function mentions(target: string, path: string): boolean {
  return `/${target}`.replace(/[\s'"=]/g, "/").includes(`/${path}`)
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}
