/**
 * Sentences of a text, and what each says about the work: a decision, a failure, a finding, an open task, the next step or the progress.
 * Words of several languages decide. The sentences are verbatim; code, tables and dumps are left out.
 */
import { remembering } from "../../base/remembering.ts"
import { sentenceParts } from "./sentences.ts"

export type SentenceKind = "decision" | "failure" | "finding" | "open" | "next" | "progress"

export interface Sentence {
  readonly text: string
  /** Absent where it says none of these. */
  readonly kind?: SentenceKind
  /** 0 where it has no kind. */
  readonly weight: number
}

const LONGEST_SENTENCE = 400 // characters; more is pasted text or a table
const SHORTEST_SENTENCE = 12 // characters; less says nothing on its own
const SHORTEST_DENSE = 5 // the same in scripts that write a word in one or two characters
const MOST_SENTENCES_OF_A_TEXT = 200 // a longer text is a document, and its beginning and end say what it is
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const FENCE = /^\s*(?:```|~~~)/
const LIST_MARK = /^(?:[-*+•>#]+|\d{1,2}[.)])\s+/
const NOT_PROSE = /^[|<{}[\]()=;/\\]|[{};]\s*$|\|.*\|/

/** Whole words in Latin, Cyrillic and Greek script. */
const words = (list: readonly string[]): string => `(?<![\\p{L}\\p{N}])(?:${list.join("|")})(?![\\p{L}\\p{N}])`
const tells = (list: readonly string[], dense: readonly string[]): RegExp =>
  new RegExp(`${words(list)}|${dense.join("|")}`, "iu")

/** The first match decides. Weights: what a successor can least do without comes first. */
const KINDS: readonly { readonly kind: SentenceKind; readonly weight: number; readonly pattern: RegExp }[] = [
  {
    kind: "failure",
    weight: 3,
    pattern: tells(
      [
        ...["did(?:n't| not) (?:work|help)", "does(?:n't| not) (?:work|help)", "dead end", "gave up", "ruled out"],
        ...[
          "reverted?",
          "rolled back",
          "turned out",
          "no longer works",
          "made it worse",
          "not possible",
          "can(?:'t|not)",
        ],
        ...["funktioniert nicht", "ging nicht", "klappt nicht", "sackgasse", "hat nicht geholfen"],
        ...["ne (?:marche|fonctionne) pas", "n'a pas (?:marché|fonctionné|aidé)", "impasse"],
        ...["no funciona", "no funcionó", "não funciona", "não funcionou", "non funziona", "werkt niet"],
        ...["не работает", "не помогло", "тупик"],
      ],
      ["行不通", "不起作用", "没有用", "失败了", "うまくいか", "動かな", "効果がな", "작동하지", "안 됩니다", "실패"],
    ),
  },
  {
    kind: "decision",
    weight: 3,
    pattern: tells(
      [
        ...[
          "decided",
          "decision",
          "because",
          "since (?:a|an|it|its|that|the|there|they|this|we)",
          "instead of",
          "rather than",
          "chose",
          "we(?:'ll| will) (?:use|keep|go)",
        ],
        ...["i(?:'ll| will) (?:use|keep|go with)", "the reason", "so that", "in favou?r of", "trade-?off"],
        ...["entschieden", "entscheidung", "weil", "statt", "stattdessen", "deshalb", "deswegen"],
        ...["décidé", "parce que", "plutôt que", "au lieu", "decidid[oa]", "porque", "en lugar de", "en vez de"],
        ...["decidi(?:mos|do|u)?", "em vez de", "perché", "deciso", "invece di", "besloten", "omdat", "in plaats van"],
        ...["решили", "решил", "потому что", "вместо"],
      ],
      ["因为", "决定", "而不是", "因為", "決定", "ため", "ので", "ことにし", "代わりに", "때문", "결정", "대신"],
    ),
  },
  {
    kind: "finding",
    weight: 2,
    pattern: tells(
      [
        ...[
          "root cause",
          "the cause",
          "caused by",
          "the (?:problem|bug|issue|error|failure|culprit) (?:is|was)",
          "found",
        ],
        ...["the fix", "fixed", "it fails", "fails? (?:because|with|when)", "regression"],
        ...["ursache", "grund", "fehler", "gefunden", "behoben", "cause", "erreur", "corrigé", "trouvé"],
        ...["causa", "fallo", "corregido", "encontr[éeo]", "erro", "corrigido", "errore", "corretto", "oorzaak"],
        ...["причина", "ошибка", "исправил", "нашёл", "нашел"],
      ],
      ["原因", "问题是", "修复", "错误", "修正", "エラー", "問題は", "원인", "수정", "오류"],
    ),
  },
  {
    kind: "next",
    weight: 2,
    pattern: tells(
      [
        ...["next", "now i(?:'ll| will)", "then i(?:'ll| will)", "next step", "let me now", "remaining step"],
        ...["als nächstes", "nächster schritt", "danach", "ensuite", "prochaine étape", "a continuación", "siguiente"],
        ...["próximo passo", "em seguida", "prossimo passo", "volgende stap", "далее", "следующий шаг"],
      ],
      ["下一步", "接下来", "次に", "次は", "다음"],
    ),
  },
  {
    kind: "open",
    weight: 2,
    pattern: tells(
      [
        ...[
          "still",
          "not yet",
          "remains?",
          "remaining",
          "left to do",
          "todo",
          "fixme",
          "open question",
          "pending",
          "unclear",
        ],
        ...["ha(?:s|ve)(?:n't| not)(?: yet)? been", "needs? to be", "must be", "follow-?up", "to be done"],
        ...["noch", "offen", "fehlt noch", "reste", "pas encore", "todavía", "falta", "ainda", "ancora", "nog niet"],
        ...["ещё", "осталось"],
      ],
      ["还没", "尚未", "剩下", "まだ", "残り", "아직", "남은"],
    ),
  },
  {
    kind: "progress",
    weight: 1,
    pattern: tells(
      [
        ...["done", "finished", "complete[d]?", "passes", "passing", "works now", "implemented", "ready", "verified"],
        ...["fertig", "erledigt", "läuft", "bestanden", "terminé", "fini", "réussi", "listo", "terminado", "pronto"],
        ...["concluído", "fatto", "completato", "klaar", "готово", "сделано"],
      ],
      ["完成", "通过", "好了", "完了", "できました", "通りました", "완료", "통과"],
    ),
  },
]

/** The sentences that people would read aloud. */
export const proseSentences: (text: string) => readonly Sentence[] = remembering((text) =>
  proseIn(text).map((sentence): Sentence => {
    const found = KINDS.find(({ pattern }) => pattern.test(sentence))
    return found ? { text: sentence, kind: found.kind, weight: found.weight } : { text: sentence, weight: 0 }
  }),
)

function proseIn(text: string): readonly string[] {
  const sentences = sentenceParts(withoutCode(text))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter(isProse)
  const half = MOST_SENTENCES_OF_A_TEXT / 2
  return sentences.length <= 2 * half ? sentences : [...sentences.slice(0, half), ...sentences.slice(-half)]
}

function withoutCode(text: string): string {
  let isCode = false
  const lines = text.split("\n").filter((line) => {
    if (!FENCE.test(line)) return !isCode
    isCode = !isCode
    return false
  })
  return lines.join("\n")
}

function isProse(sentence: string): boolean {
  if (sentence.length > LONGEST_SENTENCE || NOT_PROSE.test(sentence)) return false
  return sentence.length >= (DENSE.test(sentence) ? SHORTEST_DENSE : SHORTEST_SENTENCE)
}
