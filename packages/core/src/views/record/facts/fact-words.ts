/**
 * Words that decide how a sentence is read as a fact: which carry no content, which are values of one kind, and which negate it. This
 * is data: a missing word makes a comparison less certain, and then both memories stay.
 */

const list = (text: string): ReadonlySet<string> => new Set(text.split(" "))

/** Words that are removed before any comparison: articles and pronouns, softeners, and question words. */
export const FILLING = list(
  "the this that these those there here it its my our your their her we i they he she you user please just simply really very quite " +
    "currently already still then so and well ok okay always should must may can shall will would " +
    "der die das den dem des ein eine einen einem einer und auch bitte immer soll sollen muss müssen kann wird werden wir ich sie er es mein unser unsere " +
    "le la les un une des du de et nous je tu vous il elle toujours el los las una unos yo nosotros siempre os um uma uns nós sempre " +
    "lo gli uno io noi het een en wij ik altijd " +
    "всегда и мы я 的 总是 始终 常に 必ず いつも 항상 반드시",
)
/** Prepositions that only connect two words. `from`, `before`, `without` and the like carry more meaning and stay. */
export const PREPOSITIONS = list(
  "in on at of for by to with as into onto per via auf im am an bei von vom für zu zum zur mit um aus dans à au aux sur pour par avec chez " +
    "en a al por para con no na em ao com nel nella di da su per op voor bij te met в на с для по",
)
/** Words that lead to a value like prepositions, but are compared like other words. */
export const DIRECTIONS = list(
  "from until till under before after since above below over aus bis unter vor nach depuis desde hasta até fino vanaf tot",
)
export const ARTICLES_OF_A_CLASS = list("a an ein eine einen un une una uno um uma een")
export const EVERY = list("every each jeden jede jedes chaque cada ogni elke")

/** Words that mean "is", including for locations. The value follows. */
export const COPULAS = list(
  "is are am be isn't aren't becomes ist sind lautet heißt heisst beträgt est sont es son está están é são è sono zijn heet bedraagt 是 は является",
)
export const PAST = list(
  "was were had did wasn't weren't war waren hatte était étaient fue era eran foi eram era erano",
)
/** Verbs that mean no more than "is" if a preposition follows: lives in, runs on. */
export const PLACE_VERBS = list(
  "run live sit reside stay listen locate host base situate happen occur hold place schedule plan take set liegt steht läuft wohnt sitzt befindet",
)
/** Verbs stating that something turned from one thing into another. */
export const CHANGE_VERBS = list(
  "move switch change migrate relocate transfer reschedule postpone delay rename raise lower increase decrease reduce bump cut extend " +
    "shorten push slip upgrade downgrade update rise fall grow",
)

/** Verbs that can be true with several objects at the same time. */
export const MULTIPLE = list(
  "use like love prefer favour favor dislike know speak support have include need require depend call talk read import export send contain accept provide work meet visit want " +
    "plan play eat drink enjoy hate own lead manage maintain approve review handle connect sync integrate link relate test share subscribe follow " +
    "help teach learn see watch mention compare pair cooperate collaborate complain ask report invite belong feature join attend serve power fail pass cause throw produce",
)
/** Things of which one person, or one company, has several at a time. */
export const MANY = list(
  "daughter son child children kid sister brother sibling cousin friend colleague teammate neighbour neighbor pet cat dog aunt uncle parent grandchild " +
    "customer client investor user hobby interest allergy language skill favourite favorite member",
)
/** States after "is" that several subjects can have at the same time. */
export const SHARED_STATES = list(
  "used called needed supported tested connected linked related shared required read known loved liked visited covered compatible similar mentioned reviewed " +
    "tagged affected blocked inspired interested involved available built made full short afraid proud aware fond good bad keen",
)
/** Verbs for a post that one person holds: the subject is the value. */
export const ROLES = list("lead own head manage maintain chair coordinate moderate captain")

/** Verbs for what one person usually does for something. */
const DUTY_VERBS =
  "answer train water feed clean sign organise organize edit cook guard supervise coach treat moderate approve handle host translate drive deliver repair " +
  "teach tutor look ride tend groom mow prune bake collect wash escort"
export const DUTIES = list(DUTY_VERBS)

/** Verbs of statements in their usual form. Others are unknown. */
export const VERBS = list(
  "run live sit stay listen use like love know speak support have include need require depend call talk read send contain accept provide work " +
    "want plan own lead manage maintain approve review handle connect sync head chair cost take last start begin end expire close open happen occur " +
    "return default resolve redirect map store keep log publish write point go deploy ship belong report prefer weigh measure hold host serve " +
    "move switch change migrate relocate time retry fail pass rotate retain allow limit bill pay charge receive get give produce build compile " +
    "coordinate moderate mean equal say ask expect land arrive leave sleep eat drink commute drive ride study teach play train " +
    "wear carry bring buy sell see hear learn choose attend join follow compete travel grow graze swim speak sing become remain stand consist connect reach " +
    DUTY_VERBS,
)
/** Verbs at the start of an order. */
export const ORDERS = list(
  "use run answer reply respond write keep push commit deploy put name prefer add indent format ask call make give send store save install build " +
    "test open start stop include show explain speak talk address avoid do merge rebase squash review tag release log lint sign document wrap " +
    "limit set create delete remove check verify quote comment export import return throw cache retry mock print translate summarise summarize " +
    "verwende benutze nutze antworte schreib schreibe nimm utilise réponds usa use responda responde rispondi gebruik antwoord",
)
/** Verbs that only carry the object of an order: keep answers short, give short answers. */
export const CARRIERS = list("use keep give make do provide let")

export const NEGATIONS = list(
  "not never no don't doesn't isn't aren't won't cannot can't without avoid stop nie niemals nicht kein keine keinen keinem keiner pas jamais aucun aucune " +
    "nunca jamás não nao non mai niet nooit geen не никогда нельзя ¬",
)
/** Negations in scripts without spaces. */
export const NEGATION_RUNS = /不要|禁止|绝不|絕不|从不|從不|别|しないで|決して|하지 마|لا /gu

/** Introductions of a sentence that do not change its meaning. */
export const OPENINGS =
  /^(?:(?:no|yes|ok|okay|well|oh|hey|so|and|but|update|correction|actually|in fact|fyi|note|nb|remember|reminder|heads[- ]up|by the way|btw|for the record|just so you know|as a reminder|as you know|it turns out|important|please|from now on|going forward|in (?:the )?future|i meant|sorry|nein|doch|übrigens|tatsächlich|ab jetzt|ab sofort|bitte)\b(?:\s+that\b)?[,:;.!]*\s+)+/iu

/** Synonyms. */
export const SAME_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      has: "have",
      deployment: "deploy",
      deployments: "deploy",
      licence: "license",
      licensed: "license",
      licenced: "license",
      reply: "answer",
      respond: "answer",
      response: "answer",
      "e-mail": "email",
      mail: "email",
      begin: "start",
    },
    ...{
      repo: "repository",
      repos: "repository",
      db: "database",
      dbs: "database",
      prod: "production",
      docs: "documentation",
    },
    ...{ config: "configuration", env: "environment", postgresql: "postgres", js: "javascript", ts: "typescript" },
    ...{
      owner: "own",
      owned: "own",
      leader: "lead",
      led: "lead",
      maintainer: "maintain",
      manager: "manage",
      due: "deadline",
    },
    ...{ costs: "cost", price: "cost", k8s: "kubernetes", indentation: "indent", ran: "run", auth: "authentication" },
    ...{
      max: "maximum",
      min: "minimum",
      app: "application",
      apps: "application",
      kept: "keep",
      held: "hold",
      sent: "send",
    },
    ...{
      secs: "second",
      sec: "second",
      s: "second",
      mins: "minute",
      hrs: "hour",
      hr: "hour",
      h: "hour",
      msecs: "ms",
      millisecond: "ms",
      milliseconds: "ms",
    },
    ...{
      one: "1",
      two: "2",
      three: "3",
      four: "4",
      five: "5",
      six: "6",
      seven: "7",
      eight: "8",
      nine: "9",
      ten: "10",
      eleven: "11",
      twelve: "12",
    },
    ...{
      fifteen: "15",
      twenty: "20",
      thirty: "30",
      forty: "40",
      fifty: "50",
      sixty: "60",
      ninety: "90",
      hundred: "100",
    },
    ...{ zwei: "2", drei: "3", vier: "4", fünf: "5", zehn: "10", noon: "12:00", midday: "12:00", midnight: "00:00" },
  }),
)

const WEEKDAYS: readonly string[] = [
  "monday mondays mon montag montags lundi lunes segunda-feira lunedì maandag понедельник",
  "tuesday tuesdays tue tues dienstag dienstags mardi martes terça-feira martedì dinsdag вторник",
  "wednesday wednesdays wed mittwoch mittwochs mercredi miércoles quarta-feira mercoledì woensdag среда",
  "thursday thursdays thu thurs donnerstag donnerstags jeudi jueves quinta-feira giovedì donderdag четверг",
  "friday fridays fri freitag freitags vendredi viernes sexta-feira venerdì vrijdag пятница",
  "saturday saturdays sat samstag samstags sonnabend samedi sábado sabato zaterdag суббота",
  "sunday sundays sun sonntag sonntags dimanche domingo domenica zondag воскресенье",
]
const MONTHS =
  "january february march april june july august september october november december januar februar märz mai juni juli oktober dezember"

/** Each row is one kind, and each string in it is one value with all its spellings. Two values of a kind exclude each other. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  weekday: WEEKDAYS,
  month: MONTHS.split(" "),
  frequency: [
    "daily",
    "hourly",
    "weekly",
    "monthly",
    "nightly",
    "yearly annually",
    "quarterly",
    "biweekly fortnightly",
    "täglich",
    "wöchentlich",
    "monatlich",
  ],
  language: [
    ...[
      "english englisch anglais inglés",
      "german deutsch allemand",
      "french français",
      "spanish español",
      "italian",
      "portuguese",
    ],
    ...[
      "dutch",
      "russian",
      "chinese mandarin",
      "japanese",
      "korean",
      "arabic",
      "hindi",
      "polish",
      "turkish",
      "swedish",
      "danish",
    ],
    ...["norwegian", "finnish", "czech", "greek", "hebrew", "ukrainian", "vietnamese", "thai", "romanian", "hungarian"],
  ],
  colour:
    "red green blue yellow orange purple violet black white grey pink brown teal cyan magenta navy beige maroon turquoise gold silver".split(
      " ",
    ),
  length: [
    "short brief concise terse compact kurz knapp court corto",
    "long detailed verbose extensive thorough exhaustive lang ausführlich détaillé largo",
  ],
  indentation: ["tab tabs tabulator tabulatoren", "space spaces leerzeichen"],
  quotes: ["single", "double"],
  theme: ["dark", "light"],
  packages: ["npm", "pnpm", "yarn", "bun"],
  tests: ["vitest", "jest", "mocha", "jasmine", "ava", "pytest", "unittest"],
  hosting: ["github", "gitlab", "bitbucket", "codeberg", "gitea"],
  ci: ["jenkins", "circleci", "travis", "buildkite", "teamcity", "drone"],
  editor: ["vim neovim", "emacs", "vscode", "sublime", "nano", "helix", "intellij"],
  casing: ["camelcase", "snake_case snakecase", "kebab-case", "pascalcase"],
  history: ["rebase rebasing", "squash squashing", "merge-commit"],
  formality: ["formal formally", "informal informally casual casually"],
  amount: ["low", "medium", "high"],
  size: ["small little tiny", "large big huge"],
  speed: ["slow slowly", "fast quick quickly"],
  direction: ["ascending", "descending"],
  reach: ["local locally", "remote remotely"],
}

interface Value {
  readonly kind: string
  readonly value: string
}
export const VALUES: ReadonlyMap<string, Value> = new Map(
  Object.entries(KINDS).flatMap(([kind, values]) =>
    values.flatMap((words) => {
      const [value] = words.split(" ")
      return words.split(" ").map((word) => [word, { kind, value: value! }] as const)
    }),
  ),
)

/** Pairs of opposites: disabled is not enabled. */
export const OPPOSITES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      disabled: "enabled",
      disable: "enable",
      off: "on",
      closed: "open",
      forbidden: "allowed",
      prohibited: "allowed",
      banned: "allowed",
    },
    ...{
      optional: "required",
      private: "public",
      down: "up",
      unavailable: "available",
      unsupported: "supported",
      offline: "online",
    },
    ...{
      inactive: "active",
      deactivated: "active",
      unpaid: "paid",
      incomplete: "complete",
      unstable: "stable",
      insecure: "secure",
    },
    ...{
      unlocked: "locked",
      asynchronous: "synchronous",
      unsigned: "signed",
      uncompressed: "compressed",
      impossible: "possible",
    },
  }),
)
/** States that negate a sentence even next to "is", so they must not be treated as prepositions. */
export const STATES = list(
  "on off up down open enabled allowed required public available supported online active paid complete stable secure",
)

/** Words that need a name to be specific: "The port is 80." */
export const GENERAL = list(
  "it they port host owner deadline url address version timeout limit region database password branch email name status budget price size path token key " +
    "server service app application project team repository build pipeline cluster queue job test release deploy deployment domain bucket table folder " +
    "file user admin contact lead manager office room machine image theme language default environment setting value number type format licence",
)
/** Words in a title that do not distinguish it. */
export const TITLES = list(
  "note fact facts project info detail details misc general memory setting settings about the of",
)

export const UNITS = list(
  "ms second minute hour day week month year kb mb gb tb kib mib gib percent % px em rem dollar euro eur usd cent pound km m cm mm kg g request retry " +
    "attempt replica worker thread core person people character line item row sekunde sekunden minuten stunden tage",
)

/** Adjectives that describe a thing without identifying it. Most are recognised by their endings. */
const QUALITIES = list(
  "slow fast ready old new big small good bad hot cold late early full empty safe dead live free busy large huge tiny high low long short cheap clean dirty " +
    "hard soft easy rare raw stale fresh loud quiet weird odd wrong right true false strict loose thin thick wide narrow heavy strong weak deep sharp flat sick " +
    "fine sure rich poor young sad glad calm nice rude mine yours gone done important simple complex stable broken slower faster better worse legacy beta alone " +
    "urgent critical dangerous fragile obsolete outdated clear unclear correct incorrect redundant tight overdue unique sound tired green",
)
export const isQuality = (word: string): boolean =>
  QUALITIES.has(word) || /(?:ed|ing|ful|less|able|ible|ive|ous|ical|ish|ary|ent|ant|[^aeiou]y)$/.test(word)
