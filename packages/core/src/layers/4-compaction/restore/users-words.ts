/**
 * Step 5, restore. The user's own messages after a boundary, verbatim, each with its handle. The open task is always whole, and so are all
 * standing rules. Of the other messages the newest are whole as far as the limit allows, older ones have their first line. A sentence that
 * the user replaced later is marked.
 */
import { fenced } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Statements } from "../../../views/record/statements.ts"
import type { Word, Words } from "../../../views/record/words.ts"
import type { Estimate } from "../cut-text.ts"
import { worthOf } from "./worth.ts"

interface MessagesToRender {
  readonly words: Words
  readonly statements: Pick<Statements, "replaced">
  /** Tokens of all messages together. The open task may exceed it. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that stay in the view. They are not repeated. */
  readonly kept: ReadonlySet<Uuid>
}

interface RenderedMessages {
  readonly text: string
  /** Those that are there whole. */
  readonly whole: ReadonlySet<Uuid>
}

const SHORT_MESSAGE = 120 // characters: "go on" refers to the message before it
const MAX_TASK_MESSAGES = 4
const FIRST_LINE = 100 // characters
const LEFT_OUT = "\n[9999 messages left out: 5e8d1f3b7a to 4c9a2e6d0f]" // at its longest
const TASK = 100 // before anything else
const RECENCY = 2 // how much more the newest message counts than the oldest
const REPLACED = "[replaced since]"

/** The newest message of the user. Where it is short, those before it too, up to one that says what to do. */
export function openTask({ messages }: Words): ReadonlySet<Uuid> {
  const task = new Set<Uuid>()
  for (const { uuid, text } of messages.slice(-MAX_TASK_MESSAGES).toReversed()) {
    task.add(uuid)
    if (text.length >= SHORT_MESSAGE) break
  }
  return task
}

/** Sentences of the user that they replaced later. What the assistant takes back of its own says nothing about them. */
export function outdatedWords({ messages }: Words, { replaced }: Pick<Statements, "replaced">): readonly string[] {
  const own = new Set(messages.map(({ uuid }) => uuid))
  return [...replaced].flatMap(([sentence, { uuid }]) => (own.has(uuid) ? [sentence] : []))
}

export function renderMessages({ words, statements, limit, estimate, kept }: MessagesToRender): RenderedMessages {
  const own = words.messages.filter(({ uuid }) => !kept.has(uuid))
  if (own.length === 0) return { text: "", whole: new Set() }
  const task = openTask(words)
  const outdated = replacedSentences(statements)
  const forms = new Map<Word, string>()
  const fence = estimate(fenced("\n"))
  const sizeOf = (form: string) => estimate(form) + (form.includes("\n") ? fence : 0) + 1 // lines after it need a fence of their own
  let room = limit - estimate(HEAD) - fence - estimate(LEFT_OUT)
  const take = (message: Word, form: string): void => {
    forms.set(message, form)
    room -= sizeOf(form)
  }
  const scores = new Map(
    own.map((message, at) => [
      message,
      (task.has(message.uuid) ? TASK : 0) + worthOf(message.text) + (RECENCY * at) / own.length,
    ]),
  )
  const texts = new Map(own.map((message) => [message, withMarks(message, outdated.get(message.uuid) ?? [])]))
  const shownTexts = new Set<string>()
  const wholeTexts = new Set<string>()
  for (const message of own.toSorted((a, b) => scores.get(b)! - scores.get(a)!)) {
    const text = texts.get(message)!
    if (text === "" || shownTexts.has(text)) continue
    const full = formOf(message, text)
    const line = lineOf(message, text)
    if (task.has(message.uuid) || sizeOf(full) <= room) {
      take(message, full)
      if (!message.isCut) wholeTexts.add(text)
    } else if (sizeOf(line) <= room) take(message, line)
    if (forms.has(message)) shownTexts.add(text)
  }
  const whole = new Set(own.map(({ uuid }) => uuid))
  // one message can have several texts: answers to questions, and what was said with them
  for (const [{ uuid, isCut }, text] of texts) if (isCut || !wholeTexts.has(text)) whole.delete(uuid)
  const shown = own.flatMap((message) => forms.get(message) ?? [])
  const elided = own.filter((message) => !shownTexts.has(texts.get(message)!))
  const left = elided.length === 0 ? [] : [`[${count(elided.length, "message")} left out: ${rangeOf(elided)}]`]
  if (shown.length === 0) return { text: ["## What the user said", ...left].join("\n"), whole }
  return { text: [HEAD, ...left, ...joinedLines(shown)].join("\n"), whole }
}

const HEAD = "## What the user said\nWord for word, oldest first, each after its handle."

/** By message: the sentences that it said and that a later one replaced. */
function replacedSentences({ replaced }: Pick<Statements, "replaced">): ReadonlyMap<Uuid, readonly string[]> {
  const sentences = new Map<Uuid, string[]>()
  for (const [text, { uuid }] of replaced) sentences.set(uuid, [...(sentences.get(uuid) ?? []), text])
  return sentences
}

/** Empty where nothing else is left. */
function withMarks({ text }: Word, outdated: readonly string[]): string {
  if (outdated.length === 0) return text
  const marked = outdated.reduce((so, sentence) => so.replace(sentence, () => REPLACED), text)
  return marked.replaceAll(REPLACED, "").replace(/[\s.!]+/g, "") === "" ? "" : marked
}

/** A message of one line is a line. A longer one is fenced, so that none of its lines reads like another message. */
function formOf({ uuid, isCut }: Word, text: string): string {
  const more = isCut ? " (its beginning)" : ""
  const trimmed = text.trim()
  return trimmed.includes("\n")
    ? `[${handleOf(uuid)}]${more}\n${fenced(trimmed)}`
    : `[${handleOf(uuid)}]${more} ${trimmed}`
}

function lineOf({ uuid }: Word, text: string): string {
  const line = text.trim().split("\n", 1)[0]!
  const shown = line.length > FIRST_LINE ? line.slice(0, FIRST_LINE) : line
  return `[${handleOf(uuid)}] ${shown.toWellFormed()} … [${text.length} characters in all]`
}

/** Lines in a row share a fence. */
function joinedLines(forms: readonly string[]): readonly string[] {
  const joined: string[] = []
  let lines: string[] = []
  const close = () => {
    if (lines.length > 0) joined.push(fenced(lines.join("\n")))
    lines = []
  }
  for (const form of forms) {
    if (!form.includes("\n")) {
      lines.push(form)
      continue
    }
    close()
    joined.push(form)
  }
  close()
  return joined
}

interface RulesToRender {
  readonly words: Words
  readonly statements: Pick<Statements, "replaced">
  /** Messages that are in view whole: their rules are there. */
  readonly inView: ReadonlySet<Uuid>
}

/** A sentence that was said several times appears once, where it was said last. */
export function renderRules({ words, statements, inView }: RulesToRender): string {
  const { messages } = words
  const rules = new Map<string, Uuid>()
  for (const message of messages) {
    for (const rule of message.rules) {
      rules.delete(rule)
      rules.set(rule, message.uuid)
    }
  }
  const pasted = renderPasted(messages)
  const listed = [...rules].filter(([, uuid]) => !inView.has(uuid))
  const elsewhere = [...new Set([...rules.values()].filter((uuid) => inView.has(uuid)))]
  if (rules.size === 0) return pasted === "" ? "" : ["## Standing rules", pasted].join("\n")
  const isOutdated = new Set(outdatedWords(words, statements))
  const lines = listed.map(([rule, uuid]) => `[${handleOf(uuid)}] ${rule}${isOutdated.has(rule) ? ` ${REPLACED}` : ""}`)
  const where =
    elsewhere.length === 0
      ? ""
      : ` ${listed.length === 0 ? "They" : "More of them"} are in message ${elsewhere.map((uuid) => handleOf(uuid)).join(", ")}.`
  return [
    "## Standing rules",
    `Sentences of the user. They apply until the user takes them back; the later one counts.${where}`,
    ...(lines.length === 0 ? [] : [fenced(lines.join("\n"))]),
    ...(pasted === "" ? [] : [pasted]),
  ].join("\n")
}

const MOST_PASTED = 24 // messages named, the newest; more than that do not help to find something

/** Pasted text can be full of sentences that read like rules. They are not listed, but none is lost: each message has its handle. */
function renderPasted(messages: readonly Word[]): string {
  const pasted = messages.filter(({ otherRules = 0 }) => otherRules > 0)
  if (pasted.length === 0) return ""
  const sentences = pasted.reduce((sum, { otherRules = 0 }) => sum + otherRules, 0)
  const named = pasted.slice(-MOST_PASTED).map(({ uuid, otherRules }) => `${handleOf(uuid)} (${otherRules})`)
  const older = pasted.length > named.length ? `${pasted.length - named.length} older messages, ` : ""
  const verb =
    sentences === 1
      ? "sentence of pasted text reads like a rule and is"
      : "sentences of pasted text read like rules and are"
  return `[${sentences} ${verb} not listed here. Recall the handle: ${older}${named.join(", ")}]`
}

function rangeOf(messages: readonly Word[]): string {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  return first === last ? handleOf(first.uuid) : `${handleOf(first.uuid)} to ${handleOf(last.uuid)}`
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`
