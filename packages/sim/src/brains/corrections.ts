/**
 * Finds the sentences in which a user corrects the agent or tells it how to work. Extracts the rules a program can obey:
 * leave a path alone, stay within one, do not use a tool.
 */

import { type PlannedCall, type Role, roleOf } from "./toolbox.ts"

export interface Rule {
  /** The user's own words. */
  readonly words: string
  readonly kind: "avoid" | "stay within"
  /** Empty: the rule covers every path. */
  readonly paths: readonly string[]
  /** Empty: the rule covers every kind of work. */
  readonly roles: readonly Role[]
}

const FORBIDS = /\b(?:don['’]t|do not|never|stop|avoid|leave|no more|no longer|must not|instead of|rather than)\b/i
const CONFINES = /\bonly\b/i
const OBJECTS =
  /^\s*(?:no\b|nope\b|wrong\b|stop\b|not (?:that|like)|actually\b|instead\b|that['’]?s (?:not|wrong)|please (?:don['’]t|stop|revert|undo))/i
const STANDING = /\b(?:always|never|from now on|prefer|every time|don['’]t|do not|must|only)\b/i

/** How people name the kinds of work they allow or forbid. A word may mean several roles. */
const WORK_WORDS: readonly { pattern: RegExp; roles: readonly Role[] }[] = [
  { pattern: /\b(?:bash|shell|commands?|terminal)\b/i, roles: ["shell"] },
  { pattern: /\b(?:edit(?:s|ing)?|chang(?:e|es|ing)|modif(?:y|ying)|touch(?:ing)?)\b/i, roles: ["edit", "write"] },
  { pattern: /\b(?:writ(?:e|es|ing)|creat(?:e|es|ing)|add(?:ing)?)\b/i, roles: ["write"] },
  { pattern: /\b(?:read(?:s|ing)?|open(?:ing)?|look(?:ing)?)\b/i, roles: ["read"] },
  { pattern: /\b(?:grep(?:ping)?|search(?:es|ing)?)\b/i, roles: ["search"] },
  { pattern: /\b(?:todos?|todo lists?)\b/i, roles: ["todo"] },
]
const NOTES_PLACE = /\b(?:notes|findings)\b[^.!?\n]*?\b(?:in|into|to) ((?:[\w@-]+\/)*[\w@-]+\.[a-z]{1,5})\b/i
const PATH = /[\w@.-]*\/[\w@./-]*|\b[\w-]+\.[a-z]{1,5}\b/g

/** Whether a message corrects the agent rather than giving it a new task. Its first words decide. */
export function isCorrection(message: string): boolean {
  const [opening = ""] = sentencesOf(message)
  return OBJECTS.test(message) || readRules(opening).length > 0
}

/** Sentences that still matter later. */
export function standingSentences(message: string): string[] {
  return sentencesOf(message).filter((sentence) => STANDING.test(sentence))
}

/** The file that the user wants notes in. */
export interface NotesPlace {
  readonly path: string
  /** The user's own words. */
  readonly words: string
}

/** The newest one counts. */
export function findNotesPlace(said: readonly string[]): NotesPlace | undefined {
  const words = said.flatMap(sentencesOf).findLast((sentence) => NOTES_PLACE.test(sentence))
  return words === undefined ? undefined : { path: NOTES_PLACE.exec(words)![1]!, words }
}

export function readRules(text: string): Rule[] {
  return sentencesOf(text).flatMap((words) => {
    const forbidden = FORBIDS.exec(words)
    const confined = CONFINES.exec(words)
    const start = forbidden ?? confined
    if (start === null) return []
    const said = words.slice(start.index)
    const paths = (said.match(PATH) ?? []).map((path) => path.replace(/^\.\//, "").replace(/[./]+$/, ""))
    const roles = WORK_WORDS.filter(({ pattern }) => pattern.test(said)).flatMap((word) => word.roles)
    const named = paths.filter((path) => path !== "")
    if (named.length === 0 && (roles.length === 0 || forbidden === null)) return []
    return [{ words, kind: forbidden === null ? "stay within" : "avoid", paths: named, roles }]
  })
}

/** Whether a planned call obeys a rule. Paths in rules are relative to the root. */
export function obeys(rule: Rule, { call, root = "" }: { call: PlannedCall; root: string | undefined }): boolean {
  const role = roleOf(call.name)
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

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
}
