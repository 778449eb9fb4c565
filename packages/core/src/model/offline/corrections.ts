/**
 * Finds the sentences in which a user corrects the agent or tells it how to work, and extracts rules that a program can follow: avoid a
 * path, stay within one, do not use a tool.
 */

import { standingRules } from "../../views/record/user-messages.ts"
import { sentencesOf } from "./document.ts"
import type { ToolRole } from "./toolbox.ts"

export interface Rule {
  /** The user's verbatim sentence. */
  readonly words: string
  readonly kind: "avoid" | "stay within"
  /** Empty if the rule covers every path. */
  readonly paths: readonly string[]
  /** Empty if the rule covers every kind of work. */
  readonly roles: readonly ToolRole[]
}

const FORBIDS = /\b(?:don['’]t|do not|never|stop|avoid|leave|no more|no longer|must not|instead of|rather than)\b/i
const CONFINES = /\bonly\b/i
const OBJECTS =
  /^\s*(?:no\b|nope\b|wrong\b|stop\b|not (?:that|like)|actually\b|instead\b|that['’]?s (?:not|wrong)|please (?:don['’]t|stop|revert|undo))/i
/** The same for other languages: how an objecting message starts. */
const OBJECTS_ELSEWHERE =
  /^\s*(?:(?:nein|falsch|stopp|doch nicht|lieber|non|faux|plutôt|arrête|mejor|incorrecto|não|errado|sbagliato|fermati|nee|fout|нет|не так|неверно|стоп)(?!\p{L})|不对|不是|错了|别|停|違う|違います|やめて|아니|틀렸)/iu
const STANDING = /\b(?:always|never|from now on|prefer|every time|don['’]t|do not|must|only)\b/i

/** Names for kinds of work that users allow or forbid. A word may mean several roles. */
const WORK_WORDS: readonly { pattern: RegExp; roles: readonly ToolRole[] }[] = [
  { pattern: /\b(?:bash|shell|commands?|terminal)\b/i, roles: ["shell"] },
  { pattern: /\b(?:edit(?:s|ing)?|chang(?:e|es|ing)|modif(?:y|ying)|touch(?:ing)?)\b/i, roles: ["edit", "write"] },
  { pattern: /\b(?:writ(?:e|es|ing)|creat(?:e|es|ing)|add(?:ing)?)\b/i, roles: ["write"] },
  { pattern: /\b(?:read(?:s|ing)?|open(?:ing)?|look(?:ing)?)\b/i, roles: ["read"] },
  { pattern: /\b(?:grep(?:ping)?|search(?:es|ing)?)\b/i, roles: ["search"] },
  { pattern: /\b(?:todos?|todo lists?)\b/i, roles: ["todo"] },
]
const MAX_RULE = 2_000 // characters; a longer "sentence" is pasted text
const PATH = /[\w@.-]*\/[\w@./-]*|\b[\w-]+\.[a-z]{1,5}\b/g

/** Whether a message corrects the agent rather than giving it a new task. Its first sentence decides. */
export function isCorrection(message: string): boolean {
  const [opening = ""] = sentencesOf(message)
  return OBJECTS.test(message) || OBJECTS_ELSEWHERE.test(message) || readRules(opening).length > 0
}

/** Sentences that stay relevant, in several languages. */
export function standingSentences(message: string): string[] {
  return sentencesOf(message).filter((sentence) => STANDING.test(sentence) || standingRules(sentence).length > 0)
}

export function readRules(text: string): Rule[] {
  return sentencesOf(text).flatMap((words) => {
    if (words.length > MAX_RULE) return []
    const forbidden = FORBIDS.exec(words)
    const confined = CONFINES.exec(words)
    const start = forbidden ?? confined
    if (start === null) return []
    const ruleText = words.slice(start.index)
    const paths = (ruleText.match(PATH) ?? []).map((path) => path.replace(/^\.\//, "").replace(/[./]+$/, ""))
    const roles = WORK_WORDS.filter(({ pattern }) => pattern.test(ruleText)).flatMap((word) => word.roles)
    const named = paths.filter((path) => path !== "")
    if (named.length === 0 && (roles.length === 0 || forbidden === null)) return []
    return [{ words, kind: forbidden === null ? "stay within" : "avoid", paths: named, roles }]
  })
}
