/**
 * Whether a sentence says who the person is: they are its subject, and it says what they are, have or do for years. What they are going
 * through, think or know about the task says nothing about them.
 */
import { remembering } from "../../base/remembering.ts"
import { isPreference } from "./preferences-english.ts"
import { sentencesIn } from "./sentences.ts"
import { clauseWith, statedPart } from "./stated-part.ts"
import { typedLines } from "./typed-text.ts"

const LONGEST = 300 // characters; a longer sentence is a story or pasted text
const any = (...parts: readonly string[]) => `(?:${parts.join("|")})`

const REMEMBER =
  "(?:(?:please )?(?:remember|note|keep in mind)(?: that)?:? )?(?:(?:hi|hello|hey|so|well|by the way|btw|fyi)[,!]? )?"
const KIN =
  "(?:wife|husband|partner|spouse|girlfriend|boyfriend|son|daughter|child|kids|children|sons|daughters|mother|father|mum|mom|dad|brother|sister|grandmother|grandfather|dog|cat)"
const COUNT = "(?:an?|one|two|three|four|five|six|seven|several|many|no|\\d+)"

/** After "I am". A noun has an article, and so has a moment: "a bit late", "a few steps away", "the one who broke it". */
const BEING = any(
  "an? (?!bit|little|few|tad|lot|hair|step|touch|couple|fan\\b|huge fan|big fan|hundred|thousand|million|minute|hour|week|day|moment|message|string)[\\p{L}-]+",
  "the (?!one|ones|first|second|third|last|next|only|same|person|opposite|problem|reason|author of this)(?:[\\p{L}-]+ ){1,4}(?:of|at|for|in)\\b",
  "one of (?:two|three|four|\\d+|the (?:founders|owners|maintainers))",
  "(?:now )?(?:a )?(?:vegetarian|vegan|pescatarian|diabetic|coeliac|celiac|dyslexic|autistic|lactose[ -]intolerant|gluten[ -]intolerant|colou?r-?blind|deaf|blind|bilingual|retired|married|divorced|widowed|single|pregnant|gay|lesbian|trans|jewish|muslim|christian|catholic|hindu|buddhist|freelance|self-employed|unemployed|(?:left|right)-handed|allergic to|intolerant to|fluent in|(?:responsible for|in charge of) (?!my\\b|our\\b|their|it|this|that)|new to (?!this|here|it|that))",
  "(?:based|living|born|raised) in (?!the (?:middle|settings))",
  "from (?!(?:the|this|that|here|there|my|your|scratch|an?)\\b)",
  "\\d{1,3}(?= years old|$|[,!]|\\.(?!\\d)| and )",
  "on the [\\p{L}-]+ team\\b",
  "in (?:the )?(?:UTC|GMT|CET|EST|PST|[A-Z]{3} time|\\p{L}+ time ?zone)",
)
const DOING = any(
  "(?:work|worked) (?:at|for|as|in|from)(?! (?:it|this|that|these|those|the (?:same|next|last|first|second))\\b)",
  "work (?:on|with) (?:the |our |an? )?[\\p{L}-]+ (?:team|group|department|patients|children|clients|customers)\\b",
  "live (?:in|at|near|on|with|alone)(?! (?:it|this|that)\\b)",
  "speak (?!to|up|with|about|for|of|at)\\p{L}+",
  "was (?:born|raised) (?:in|on|near)\\b",
  "(?:come|came) from (?!(?:the|this|that|here|my|an?)\\b)",
  "grew up (?:in|on|near|with)",
  "own (?:an? |two |three |\\d+ )",
  "run an? (?:small |little |family |own |one-person |two-person |local )*(?!script|test|command|server|build|query|check|program|container|quick|local)\\p{L}+",
  "(?:teach|study) (?!(?:this|that|it|the)\\b)[\\p{L}-]+",
  `have (?:${COUNT}|my own)(?: (?:small|little|young|old|older|younger|grown|adult|teenage|adopted|rescue))? (?:kids?|child(?:ren)?(?! (?:component|node|element|class|process))|sons?|daughters?|brothers?|sisters?|siblings?|grandchildren|dogs?|cats?|horses?|nut allergy|\\p{L}+ allergy|degree|phd|master's|bachelor's|background in|disability|stammer|hearing aid)`,
  "have (?:asthma|diabetes|adhd|autism|dyslexia|epilepsy|coeliac|celiac|migraines|arthritis|high blood pressure|\\d+ years of experience)",
  "(?:don't|do not|can't|cannot|never) (?:eat (?!breakfast|lunch|dinner)|drink (?!it)|drive\\b(?! (?:there|today|to))|smoke|speak (?!to)\\p{L})",
  "have been (?:an? \\p{L}|(?:\\p{L}+ing) )[^,]* (?:for (?:\\p{L}+|\\d+) years|since \\d{4})",
)
const OWN = any(
  "(?:full |first |last |real )?name(?: is|'s) (?!not|missing|wrong|in|on|too|still|misspelled)",
  "(?:pronouns|native language|mother tongue|first language|time ?zone|birthday|nationality|job title|occupation|profession|title|employer)(?: is|'s| are) (?!not|missing|wrong|down|too|failing)",
  "(?:job|role) is (?:to |an? |in |as )?(?!failing|not|down|stuck|still|done|running)\\p{L}+",
  "(?:team|company|employer) is (?:called |named |an? |in |at |based )",
  "background is (?:in )?",
  `${KIN}(?:'s name)? (?:is|are) (?:called |named |an? (?!bit|little)|\\d+|allergic|vegetarian|vegan|diabetic|deaf|blind|autistic)`,
  `${KIN}(?: and \\p{L}+)? (?:works|live|lives|speaks|was born) `,
)
const SPOKEN = new RegExp(`^${REMEMBER}(?:I (?:am ${BEING}|${DOING})|my ${OWN})`, "iu")
/** With a name: in lower case such words are a state, or a step of the work. */
const NAME = "\\p{Lu}[\\p{L}+#.'-]*"
const NAMED = new RegExp(
  `^${REMEMBER}(?:[Ii] (?:${[
    `am ${NAME}(?: ${NAME})?(?:,| from | and I |[.!]*$)`,
    `go by ${NAME}`,
    `(?:have )?(?:just |recently )?(?:moved|relocated) to ${NAME}`,
    `(?:have )?(?:just |recently )?(?:joined|left|retired from|started (?:working )?at) ${NAME}`,
    `know (?:${NAME}(?:,? and |, | or )?)+(?: (?:very )?well| a bit)?[.!]*$`,
  ].join("|")})|[Mm]y ${KIN}(?:'s name)? (?:is|are) ${NAME}(?:$|[.,!]| and ))`,
  "u",
)
/** What holds for a moment. */
const PASSING =
  /\b(?:right now|at the moment|today|tonight|tomorrow|this (?:morning|afternoon|evening|time|step|point)|again|so far|here[.!]*$|it seems|stuck|confused|lost|behind|worried|nervous|late)\b/iu

const ELSEWHERE = new RegExp(
  `^${any(
    "ich (?:bin (?!ein (?:bisschen|wenig))(?:eine? )?(?!mir|nicht|gerade|dabei|gleich|bald|fast|etwas|ein bisschen|ein wenig|so|sehr|zu|hier|da|im|am|in der|auf|bereit|fertig|sicher|froh|müde|verwirrt|verloren|der Meinung|weiter|schon|noch|jetzt|wieder|unsicher|gespannt)\\p{L}{4,}|arbeite (?:bei|als|in|für)|heiße|wohne|lebe in|komme aus|spreche|habe (?:eine?n?|zwei|drei|vier) (?:kind(?:er)?|sohn|söhne|tochter|töchter|hund|katzen?))",
    "mein name ist",
    "je (?:suis (?!en train|d'accord|pas|prête?|un peu|très|trop|bloqué|perdu|sûre?|désolé|en |à |sur |dans |là|content|inquiet|curieu)(?:une? )?\\p{L}{5,}|travaille (?:comme|à|chez|pour|dans)|m'appelle|viens de (?!\\p{Ll}+(?:er|ir|re)\\b)|parle )",
    "j'(?:habite|ai (?:une?|deux|trois|quatre) (?:enfants?|fils|filles?|chiens?|chats?)|ai \\d+ ans)",
    "soy (?!consciente|capaz|yo)(?:una? )?\\p{L}{4,}",
    "me llamo|trabajo (?:en|como|para) |vivo en|tengo (?:una?|dos|tres) (?:hij[oa]s?|perr[oa]|gat[oa])|hablo (?!de|con)",
    "меня зовут|я (?:работаю|живу|родил(?:ся|ась)|вегетариан|веган|говорю по-)|у меня (?:есть )?(?:двое|трое|один|одна)? ?(?:дет|сын|доч)|я (?:\\p{L}+(?:тель|ист|ник|ница|врач|ист|ер|ёр|медик)(?:ка)?|врач|юрист|медсестра|студент(?:ка)?)[.!]*$",
    "我(?:叫|住在|是(?!说|想|不|在|指|否|因为|要|问|从|这|那|第)[一-龥]{1,6}[。.!！]*$|在[一-龥]{2,8}(?:工作|上班)|有[一二两三四]个(?:孩子|儿子|女儿))",
    "私は.*(?:です|働いて)",
    "(?:저는|나는).*(?:입니다|이에요|일해)",
  )}`,
  "iu",
)

const isFact = (clause: string): boolean => {
  const plain = clause
    .replaceAll("’", "'")
    .replace(/\b(I)'m\b/giu, "$1 am")
    .replace(/\b(I)'ve\b/giu, "$1 have")
    .trim()
  if (plain.length > LONGEST || isPreference(plain)) return false
  if (ELSEWHERE.test(plain)) return true
  return (SPOKEN.test(plain) || NAMED.test(plain)) && !PASSING.test(plain)
}

const factIn = (sentence: string): string | undefined => clauseWith(statedPart(sentence), isFact)

export const isAboutThePerson = (sentence: string): boolean => factIn(sentence.trim()) !== undefined

/** Word for word, without the story before them and the question after them. */
export const factsAboutThePerson = remembering((text): readonly string[] =>
  sentencesIn(typedLines(text).join("\n")).flatMap((sentence) => factIn(sentence.trim()) ?? []),
)
