/** Words that only some conversations have. */
import { contentWords } from "./text.ts"

/** They fit any conversation, so they prove nothing. */
const ANYWHERE = contentWords(
  "summary conversation session primary request intent key technical concepts files code sections errors fixes problem solving all user messages pending tasks current work optional next step completed context continuing help part go went going start end finish done proceed progress far state title specification functions workflow corrections codebase system documentation learnings results worklog the 的 是 了 在 和 有 不 我 你 他 她 这 那 一 个 们 就 也 都 要 会 到 说 为 上 下 中 に は を の が で と した です ます",
)
const NUMBER = /^\d+$/

/** Without their endings. */
export function ownWords(text: string): readonly string[] {
  return [...contentWords(text)].filter((word) => !ANYWHERE.has(word) && !NUMBER.test(word))
}
