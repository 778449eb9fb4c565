/**
 * Finds lasting rules in what a person typed: sentences addressed to the agent about how to work from now on, in later conversations too.
 * The form of a sentence decides, not a word in it. These do not count: a question, a wish about the task at hand, a quotation, what someone
 * else says, what was, and what would be.
 */
import { madeOnce } from "../../base/made-once.ts"
import { remembering } from "../../base/remembering.ts"
import { isRuleElsewhere } from "./lasting-rules-elsewhere.ts"
import { englishRule, isEnglishRequest, type RuleLikeness } from "./lasting-rules-english.ts"
import { sentencesIn } from "./sentences.ts"
import { clauseWith, statedPart } from "./stated-part.ts"
import { typedLines } from "./typed-text.ts"

/**
 * Takes out of a sentence what is not about how to work: the text that a task is about, what a poem or a function is to be about, and what
 * someone else says. "Translate: never give up.", "Write a poem about how to always be kind.", "Always wear a helmet, my dad says."
 */

/** Before a colon, they say that a text follows. Verbs can come last, so they count anywhere before it. */
const textFollows = madeOnce(
  () =>
    new RegExp(
      [
        "^(?:(?:please|can you|could you|now|then|ok(?:ay)?),? )*(?:translate|proofread|correct|paraphrase|rephrase|reword|rewrite|summari[sz]e|shorten|improve|polish|edit|spell-?check|pronounce|analy[sz]e|explain|interpret|classify|transcribe|type|read|repeat|print|say|continue|complete|convert)\\b",
        "(?<!\\p{L})(?:übersetze?n?|korrigiere?n?|fasse? |formuliere?n?|kürze?n?|verbessere?|vorlesen|erkläre?|tradui[st]?(?:ez|re)?|corrige[rz]?|résume[rz]?|reformule[rz]?|traduce|traduzca|traduc[ie]r?|resume|reescribe|reformula|tradu[zç]\\p{L}*|corrija|resuma|correggi|riassumi|riscrivi|vertaal|corrigeer|vat |herschrijf|leg uit)",
        "перевед\\p{L}*|исправ\\p{L}*|перефразируй\\p{L}*|сократи\\p{L}*|перескаж\\p{L}*|объясни\\p{L}*|翻译|翻譯|校对|总结|概括|改写|润色|解释|翻訳|訳し|要約|校正|言い換え|説明し|번역|요약|교정|설명|ترجم|لخص|لخّص|صحح|صحّح|اشرح|अनुवाद|सारांश",
      ].join("|"),
      "iu",
    ),
)
const MOST_BEFORE_COLON = 80

interface Making {
  /** One thing is to be made. */
  readonly one: RegExp
  /** From here on it is about that thing. */
  readonly about: RegExp
}

/** Without an article, "about" tells that one thing is meant. */
const waysOfMaking = madeOnce((): readonly Making[] => [
  {
    one: /^(?:(?:please|now|then|ok(?:ay)?|also),? )*(?:write|compose|draft|create|make|design|draw|paint|generate|tell|sing|build|implement|prepare|give|invent|come up with)(?: me| us)? (?:an?|one|some|two|three|five|ten|\d+) /iu,
    about: /(?<=^[^,;]*)\b(?:always|never)\b[^,;]*/iu,
  },
  {
    one: /^(?:please )?(?:translate|proofread|paraphrase|rephrase|spell|pronounce|summari[sz]e|explain|describe|define|discuss) /iu,
    about: /(?<=^[^,;:]*)\b(?:always|never)\b.*/iu,
  },
  {
    one: /^(?:bitte )?(?:schreib|verfass|erstell|erzähl|mal|zeichn|dicht|entwirf|erfind|mach|bau|programmier)\p{L}*(?: mir| uns| bitte)* ein(?:e|en|en|s)? /iu,
    about: /(?<!\p{L})(?:immer|nie|niemals|stets)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:écri[st]|écrivez|rédige|compose|raconte|dessine|crée|invente|fais)\p{L}*(?:-moi|-nous)? (?:un|une|des) /iu,
    about: /(?<!\p{L})(?:toujours|jamais)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:por favor,? )?(?:escrib|redact|comp[oó]n|cuent|cuént|dibuj|cre|invent|ha[zg]|escríb)\p{L}* (?:un|una|unos|unas) /iu,
    about: /(?<!\p{L})(?:siempre|nunca|jamás)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:escrev|redij|cont|cri|faç|desenh|invent|scriv|compon|raccont|cre|disegn|fai|fammi)\p{L}*(?:-me)? (?:uma?|uno?|una|un')\s?/iu,
    about: /(?<!\p{L})(?:sempre|nunca|jamais|mai)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:schrijf|maak|verzin|teken|vertel|bedenk)(?: me| ons)? een /iu,
    about: /(?<!\p{L})(?:altijd|nooit)(?!\p{L}).*/iu,
  },
  {
    one: /^(?:пожалуйста,? )?(?:напиш|сочин|придума|расскаж|нарису|созда|состав)\p{L}* [^,]{2,40}(?: об? | про |, как )/iu,
    about: /(?:всегда|никогда).*/iu,
  },
  {
    one: /^请?(?:帮我|给我)?(?:写|画|编|讲|创作|作)一?(?:首|篇|个|段|幅|则|封)/u,
    about: /(?:总是|永远|从不|绝不|始终|一直|必须|永不).*/u,
  },
  { one: /について.*(?:書|作|描|話|教え)/u, about: /^.*について/u },
  { one: /에 (?:대한|관한|대해).*(?:써|만들|그려|지어|작성)/u, about: /^.*에 (?:대한|관한|대해)/u },
  {
    one: /^(?:من فضلك،? )?(?:اكتب|ألف|ألّف|ارسم|احك|أنشئ)(?: لي)? \S+ (?:عن|حول) /u,
    about: /(?:عن|حول) .*/u,
  },
  { one: /के बारे में .*(?:लिख|बना|सुना)/u, about: /^.*के बारे में/u },
])

/** At the end, after a comma or a dash. What I said myself is no such thing. */
const ATTRIBUTED =
  /(?:,| [–—-]+) (?:(?:as|so|or so|like) )?(?:(?:my|our|the|his|her|their|your)(?: [\p{L}'-]+){1,3}|he|she|they|people|everyone|mum|mom|dad|grandma|grandpa|\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?) (?:(?:always|often|usually|used to|keeps?|would) )*(?:say|says|said|saying|tell|tells|told|telling|think|thinks|insist|insists|insisted|claim|claims|recommend|recommends|warn|warns|advise|advises|preach|preaches|put)(?: (?:me|us|it|so))*\W*$|(?:,| [–—-]+) (?:says|said|warns|insists) \p{L}.*$|(?:,| [–—-]+) (?:to quote|in the words of|according to|quoth) .*$|, so (?:mein|meine|unser|unsere|der|die)(?!\p{L}).*$/iu

/** The part of a sentence in which the person can tell the agent how to work. */
function ownPart(sentence: string): string {
  if (ATTRIBUTED.test(sentence)) return ""
  const colon = sentence.slice(0, MOST_BEFORE_COLON).indexOf(":")
  if (colon > 0 && textFollows().test(sentence.slice(0, colon))) return sentence.slice(0, colon)
  const making = waysOfMaking().find(({ one }) => one.test(sentence))
  return making ? sentence.replace(making.about, "").trim() : sentence
}

const LONGEST = 400 // characters; a longer sentence is pasted text
const SHORTEST = 4
const LIST_MARK = /^\s*(?:[-*+•]|\d+[.)])\s+/u
const QUOTATION =
  /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|‘[^’\n]{8,}’|(?<![\p{L}\p{N}])'[^'\n]{8,}'(?![\p{L}\p{N}])/gu
/** Of a quotation, two words can be a name. More say something, and it is not the person who says it. */
const SHORT_QUOTATION = /^.(?:[^\s]+\s?){1,2}.$/u

/** A text is asked about by those who keep rules, and again by each extraction that has it in view. */
export const lastingRules = remembering((text): readonly string[] => {
  const sentences = sentencesIn(typedLines(text).join("\n"))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter((sentence) => sentence.length >= SHORTEST)
    .map((sentence) => ({ sentence, ...ruleIn(sentence) }))
  const isWork = sentences.some(({ sentence, likeness }) => likeness === "none" && isEnglishRequest(plainOf(sentence)))
  return sentences
    .filter(({ likeness }) => likeness === "rule" || (likeness === "alone" && !isWork))
    .map(({ words }) => words)
})

/** Without the story before it and the question after it, as long as what is left is a rule. */
function ruleIn(sentence: string): { readonly words: string; readonly likeness: RuleLikeness } {
  const stated = statedPart(sentence)
  const clause = clauseWith(stated, (words) => likenessOf(words) === "rule")
  return clause === undefined ? { words: stated, likeness: likenessOf(stated) } : { words: clause, likeness: "rule" }
}

function likenessOf(sentence: string): RuleLikeness {
  if (sentence.length > LONGEST) return "none"
  const plain = ownPart(plainOf(sentence))
  const english = englishRule(plain)
  return english !== "rule" && isRuleElsewhere(plain) ? "rule" : english
}

const plainOf = (sentence: string) =>
  sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("’", "'")
    .replace(QUOTATION, (quoted) => (SHORT_QUOTATION.test(quoted) ? "it" : "…"))
    .replace(/[`*_]/g, "")
    .replace(/\s+/gu, " ")
    .trim()
