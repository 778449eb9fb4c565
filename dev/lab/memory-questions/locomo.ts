/** Reads long dialogues with questions in the layout of the public LoCoMo data. */
import type { AskedQuestion, Dialogue, QuestionKind, Turn } from "./dialogues.ts"

interface LocomoTurn {
  readonly speaker: string
  readonly dia_id: string
  readonly text?: string
  readonly blip_caption?: string
}

interface LocomoSample {
  readonly conversation: Readonly<Record<string, unknown>>
  readonly qa: readonly {
    readonly question: string
    readonly evidence?: readonly string[]
    readonly category: number
  }[]
}

/** Categories of the data. 5 is unanswerable, usually a question about the other speaker's statements. */
const KINDS: Readonly<Record<number, QuestionKind>> = {
  1: "two-hop",
  2: "time",
  3: "two-hop",
  4: "direct",
  5: "said-of-another",
}
const DAY = 86_400_000

/** Reads a file with all samples, or a single sample whose sessions are next to its questions. */
export function readLocomo(text: string): readonly Dialogue[] {
  const read = JSON.parse(text) as readonly LocomoSample[] | LocomoSample
  const samples = Array.isArray(read) ? (read as readonly LocomoSample[]) : [read as LocomoSample]
  return samples.map((sample) =>
    dialogueFrom(sample.conversation ? sample : { ...sample, conversation: { ...sample } }),
  )
}

function dialogueFrom({ conversation, qa }: LocomoSample): Dialogue {
  const places = new Map<string, number>()
  const turns: Turn[] = []
  for (let session = 1; `session_${session}` in conversation; session++) {
    const time = timeFrom(conversation[`session_${session}_date_time`])
    for (const { speaker, dia_id, text, blip_caption } of conversation[`session_${session}`] as readonly LocomoTurn[]) {
      places.set(dia_id, turns.length)
      turns.push({ session, speaker, time, text: [text, blip_caption].filter(Boolean).join(" ") })
    }
  }
  const questions = qa.flatMap(({ question, evidence = [], category }): readonly AskedQuestion[] => {
    const kind = KINDS[category] ?? "direct"
    const at = evidence.flatMap((id) => id.split(/[;,\s]+/)).flatMap((id) => places.get(id) ?? [])
    if (kind === "said-of-another") return [{ text: question, kind, evidence: [] }]
    return at.length === 0 ? [] : [{ text: question, kind, evidence: at }]
  })
  return { turns, questions, now: new Date(Math.max(...turns.map(({ time }) => Date.parse(time))) + DAY) }
}

/** Parses a date such as "1:56 pm on 8 May, 2023". */
function timeFrom(words: unknown): string {
  const [, hour, minute, half, day, month, year] =
    /(\d+):(\d+) (am|pm) on (\d+) (\w+),? (\d{4})/i.exec(String(words)) ?? []
  const at = Date.parse(
    `${day} ${month} ${year} ${(Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0)}:${minute} UTC`,
  )
  return new Date(Number.isNaN(at) ? 0 : at).toISOString()
}
