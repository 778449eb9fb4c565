/**
 * Protects rules: information that comes only from tool output or the web may be stored as a fact, never as a rule or as something
 * about the user.
 */
import { isRule, isUserMemory, type Memory, type MemorySource } from "./memory.ts"

/** Why a memory is refused, as the end of a sentence. Undefined if it may be stored. */
export function refusalReason(
  memory: Pick<Memory, "name" | "description" | "body" | "type" | "source">,
): string | undefined {
  if (memory.source.saidBy !== "tool") return undefined
  if (isRule(memory)) return `it comes from a tool's output, so it cannot be of type ${memory.type}`
  const found = [memory.name, memory.description, memory.body].map(findInstruction).find(Boolean)
  return found && `it comes from a tool's output and reads as an instruction (${JSON.stringify(found)})`
}

/** The less trusted of two sources. */
export const lessTrusted = (a: MemorySource, b: MemorySource): MemorySource => (distrust(b) > distrust(a) ? b : a)

function distrust(source: MemorySource): number {
  if (isUserMemory({ source })) return 0
  if (source.saidBy === "tool") return 3
  return source.outside === undefined ? 1 : 2
}

/** Why only the user may make this change of a user's rule, as the end of a sentence. Undefined if it may be made. */
export function ruleChangeViolation(before: Memory | undefined, after: Memory | undefined): string | undefined {
  if (!before || !isUserMemory(before) || !isRule(before)) return undefined
  if (after && isUserMemory(after) && isRule(after) && after.supersededBy === before.supersededBy) return undefined
  return "it is a rule of the user, and the change is not in the user's words"
}

/** Whether an unconfirmed memory would supersede a statement of the user. */
export const isOverreach = (successor: Memory, older: Memory): boolean =>
  (isUserMemory(older) && !isUserMemory(successor)) ||
  (successor.source.saidBy === "tool" && older.source.saidBy !== "tool")

/** A sentence that starts like an order: with an adverb, a modal, or an imperative. English and German. */
const ORDER =
  /^(?:please\s+|bitte\s+|important\s*[:!]\s*|note\s*[:!]\s*|wichtig\s*[:!]\s*|and\s+|then\s+|also\s+)*(?:always|never|do\s+not|don['’]?t|must|remember|make\s+sure|ensure|ignore|disregard|forget|from\s+now\s+on|in\s+future|whenever|you\s+(?:are|must|should|shall|will|may|have\s+to|need\s+to)|your\s+(?:task|job|role|goal)|run|use|execute|install|delete|remove|send|post|upload|download|fetch|open|call|add|write|append|set|avoid|prefer|disable|enable|skip|commit|push|merge|reply|respond|answer|tell|say|act|pretend|treat|trust|follow|apply|keep|store|save|approve|allow|accept|grant|read|copy|paste|print|show|reveal|include|insert|replace|change|update|stop|start|visit|click|check|verify|immer|nie|niemals|du\s+(?:musst|sollst|darfst|sollte?st|bist)|sie\s+(?:müssen|sollen|sollten|dürfen)|ab\s+(?:jetzt|sofort)|künftig|merke?|denk\s+daran|ignoriere|vergiss|verwende|benutze|nutze|führe?|lösche|sende|schicke|installiere|antworte|achte|stelle?\s+sicher)(?!\p{L})/iu

/** An order to the agent anywhere in a sentence. */
const ADDRESSED =
  /\b(?:(?:you|the\s+(?:agent|assistant|model|ai)|claude|agents?|assistants?|models?)\s+(?:must|should|shall|have\s+to|has\s+to|need\s+to|needs\s+to|are\s+to|is\s+to)|(?:must|should|shall)\s+(?:always|never|not)|remember\s+to|be\s+sure\s+to|without\s+asking|(?:ignore|disregard)\s+(?:all|any|previous|earlier|the)|(?:always|never)\s+(?:use|run|do|ask|commit|push|write|add|send|call|answer|reply|trust|approve|allow|skip|install|delete)|(?:muss|musst|soll|sollst|darf|darfst)\s+(?:immer|nie|niemals|nicht))\b/iu

/** The first sentence that reads as an instruction, truncated. */
export function findInstruction(text: string): string | undefined {
  return splitSentences(text)
    .find((sentence) => ORDER.test(sentence) || ADDRESSED.test(sentence))
    ?.slice(0, 80)
}

function splitSentences(text: string): readonly string[] {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "") // invisible characters could hide a word
    .split(/(?<=[.!?:;])\s+|\n+/u)
    .map((sentence) => sentence.replace(/^[\s>*+#"'“”„`_()[\]\d.:-]+/u, "").trim())
    .filter((sentence) => sentence !== "")
}
