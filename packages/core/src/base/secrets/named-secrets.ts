/** Secrets recognized by a preceding name: in assignments, configuration files, options and sentences. */
import type { FoundValue, SecretRule } from "./secret-rule.ts"
import { isPassword, looksRandom } from "./secret-values.ts"

/** Names after which any value is a secret, even a short word. */
const STRONG =
  "pass(?:word|wd|phrase|code|wort)|pass[ _-]phrase|kennwort|\\bpwd|contraseña|contrasena|wi-?fi[ -]?key|wlan[ -]?(?:key|schlüssel)|mot de passe|senha|wachtwoord|пароль|密码|密碼|口令|パスワード"
/** Names after which a value is a secret only if it looks random. */
const WEAK =
  "secret|token|api[ _-]?keys?|api[ _-]?schlüssel|access[ _-]?key(?:[ _-]?id)?|private[ _-]?key|(?:encryption|signing|master|license|licence|account|shared|client|service|deploy|session)[ _-]?key|client[ _-]?key[ _-]?data|credentials?|connection[ _-]?string|_auth(?:token)?|\\bauth(?:orization)?|x-api-key|zugangsschlüssel|令牌|密钥"

const STRONG_WORDS =
  "pass kennwort pwd contras wi-fi wifi wlan senha wachtwoord пароль 密码 密碼 口令 パスワード".split(" ")
const WEAK_WORDS = "secret token key schlüssel credential connection auth 令牌 密钥".split(" ")

const OPEN = "(?:[\"'`“„«‹*_(]{0,4})"
const VALUE = `(?:(?<mark>["'\`]{1,3})(?<quoted>[^\\n]{1,300}?)\\k<mark>|[“„«](?<fancy>[^”“»\\n]{1,300})[”“»]|(?<bare>[^\\s"'\`“”„«»,;|]{1,300}))`
const EQUALS = "[\"'`]?(?:\\*\\*|__|\\])?\\s{0,10}(?:=>|:=|=|:|：|＝)\\s{0,10}(?:\\*\\*|__)?\\s{0,10}"
/** Matches phrases such as "for the staging server" or "of user bob". */
const WHOSE = "(?:\\s+(?:for|of|to|on|at|in|für|von|vom|zum|zur|der|des|auf|para|pour|de)\\s[^.!?:=\\n]{1,60}?)?"
const IS =
  "(?:\\s+(?:is|was|are|remains|became|lautet|ist|war|heißt|heisst|es|est|é)(?:\\s+(?:now|still|just|simply|set\\s+to|jetzt|nun))?\\s*:?\\s+|\\s*(?:是|为|為|は)\\s*[:：]?\\s*)"

/** Matches phrases such as "was changed to", ", it's" or "→". */
const BECAME =
  "(?:(?:\\s+(?:has\\s+been|was|were|is|got|wurde))?\\s+(?:changed|set|reset|updated|rotated|switched|geändert|gesetzt)(?:\\s+from\\s+\\S+)?\\s+(?:to|auf|zu|in)\\s+|\\s+equals\\s+|,?\\s+(?:it['’]s|it\\s+is|namely|nämlich)\\s+|\\s*(?:→|->|=>)\\s*|\\s+[-–—]\\s+)"

/** Where a secret's name may start. Searched for once for all rules that need it. */
const STRONG_BEGINS = new RegExp(`${STRONG}|pass|pw`, "giu")
const WEAK_BEGINS = new RegExp(`${WEAK}|key|schlüssel`, "giu")

const namedPattern = (names: string, rest: string) => new RegExp(`(?:${names})${rest}${VALUE}`, "dgiu")
const strong = (names: string, rest: string) => ({
  kind: "password",
  pattern: new RegExp(namedPattern(names, rest), "dgiuy"),
  begins: STRONG_BEGINS,
  words: STRONG_WORDS,
})
const weak = (names: string, rest: string) => ({
  kind: "key or token",
  pattern: new RegExp(namedPattern(names, rest), "dgiuy"),
  begins: WEAK_BEGINS,
  words: WEAK_WORDS,
})

const random = ({ value }: Pick<FoundValue, "value">) => looksRandom(value)
const hasLetterAndDigit = (found: FoundValue) =>
  /\d/.test(found.value) && /\p{L}/u.test(found.value) && found.value.length >= 4 && isPassword(found)

export const NAMED_SECRETS: readonly SecretRule[] = [
  // DB_PASSWORD=…, "password": "…", password => …, **Password:** …
  { ...strong(STRONG, `[\\w.-]{0,30}${WHOSE}${EQUALS}${OPEN}??`), isSecret: isPassword },
  { ...weak(WEAK, `[\\w.-]{0,30}${WHOSE}${EQUALS}${OPEN}??`), isSecret: random },
  // the password for staging is …
  { ...strong(STRONG, `s?${WHOSE}${IS}${OPEN}??`), isSecret: isPassword },
  { ...weak(WEAK, `s?${WHOSE}${IS}${OPEN}??`), isSecret: random },
  // the password was changed to …
  { ...strong(STRONG, `s?${WHOSE}${BECAME}${OPEN}??`), isSecret: isPassword },
  { ...weak(WEAK, `s?${WHOSE}${BECAME}${OPEN}??`), isSecret: random },
  { ...strong(STRONG, "[^.\\n]{0,30}?\\sfrom\\s+"), isSecret: hasLetterAndDigit },
  // pw: …, key=…, <password>…</password>, … (the password)
  { ...strong("(?<![a-z])(?:pass|pw)", `${EQUALS}${OPEN}??`), words: ["pass", "pw"], isSecret: hasLetterAndDigit },
  {
    ...weak("(?<![a-z])(?:key|schlüssel)", `(?:${EQUALS}|${IS})${OPEN}??`),
    isSecret: ({ value }) => value.length >= 16 && /[a-z]/.test(value) && /[A-Z]/.test(value) && random({ value }),
  },
  {
    kind: "password",
    pattern: new RegExp(`<[\\w:-]{0,20}(?:${STRONG})>(?<secret>[^<\\s]{3,200})</`, "dgiu"),
    words: STRONG_WORDS,
    needs: STRONG_BEGINS,
    isSecret: (found) => isPassword({ ...found, after: "" }),
  },
  {
    kind: "password",
    pattern: new RegExp(
      `(?<![^\\s"'\`])(?<bare>[^\\s"'\`]{4,200})["'\`]?\\s+\\((?:the\\s|my\\s|our\\s|das\\s)?(?:${STRONG})\\)`,
      "dgiu",
    ),
    words: STRONG_WORDS,
    needs: new RegExp(`\\((?:\\w+\\s)?(?:${STRONG})\\)`, "giu"),
    isSecret: hasLetterAndDigit,
  },
  // --password …, | password | … |, password hunter2
  {
    kind: "password",
    pattern: namedPattern(`--?(?:${STRONG}|pass)`, "[\\s=]{1,3}"),
    words: STRONG_WORDS,
    needs: STRONG_BEGINS,
    isSecret: isPassword,
  },
  {
    kind: "key or token",
    pattern: namedPattern(`--?[\\w-]{0,20}(?:${WEAK})`, "[\\s=]{1,3}"),
    words: WEAK_WORDS,
    needs: WEAK_BEGINS,
    isSecret: random,
  },
  { ...strong(STRONG, "\\s{1,20}\\|\\s{1,20}"), isSecret: isPassword },
  { ...weak(WEAK, "\\s{1,20}\\|\\s{1,20}"), isSecret: random },
  {
    ...strong(`${STRONG}|\\bpw`, "\\s+"),
    words: [...STRONG_WORDS, "pw"],
    isSecret: ({ value, after, isQuoted }) =>
      /\d/.test(value) &&
      /\p{L}/u.test(value) &&
      !/^(?:sha|md|bcrypt|argon|scrypt|pbkdf|v\d|utf|base|oauth|rfc|http)/i.test(value)
        ? value.length >= 6 && isPassword({ value, after, isQuoted })
        : false,
  },
  {
    ...weak(WEAK, "\\s+"),
    isSecret: ({ value }) => value.length >= 20 && /\d/.test(value) && looksRandom(value),
  },
  // use hunter2 as the password
  {
    kind: "password",
    pattern: new RegExp(
      `\\b(?:use|enter|type|try|with|nimm|verwende|benutze)\\s+(?:["'\`“„](?<quoted>[^"'\`”“\\n]{1,200})["'\`”“]|(?<bare>[^\\s"'\`]{3,200}))\\s+(?:as|als)\\s+(?:the\\s+|a\\s+|my\\s+|our\\s+|your\\s+|das\\s+)?(?:\\w+\\s+)?(?:${STRONG}|pin\\b)`,
      "dgiu",
    ),
    words: [...STRONG_WORDS, "pin"],
    needs: new RegExp(`(?:as|als)\\s+(?:\\w+\\s+){0,2}(?:${STRONG}|pin\\b)`, "giu"),
    isSecret: ({ value, isQuoted }) => isPassword({ value, isQuoted, after: "" }),
  },
  {
    kind: "PIN",
    pattern:
      /\b(?:pin|puk|tan|cvv|cvc|otp|2fa|mfa)(?:[ -]?(?:code|number|nummer))?(?:\s+(?:for|of|to|für|zum|zur)\s[^.!?:=\n]{1,40}?)?(?:\s+(?:is|was|lautet|ist)\s+|\s*[:=]\s*)["'`]?(?<bare>\d{3,10})\b/dgi,
    words: ["pin", "puk", "tan", "cvv", "cvc", "otp", "2fa", "mfa"],
    isSecret: ({ after }) => !/^\s*(?:digits?|characters?|stellen|stellig|to\b|or\b|-)/i.test(after),
  },
  {
    kind: "PIN",
    pattern: /\b(?:PIN|PUK|TAN|OTP)(?:[ -]code)? (?<bare>\d{4,8})\b/dg,
    words: ["pin ", "puk ", "tan ", "otp ", "code "],
  },
  {
    kind: "access code",
    pattern:
      /\b(?:door|gate|alarm|safe|lock|entry|vault)(?:['’]s)?[ -]?(?:code|combination)\b[^.\n:=]{0,30}?(?:\bis\b|[:=])\s*(?<bare>\d[\d -]{2,14})/dgi,
    words: ["door", "gate", "alarm", "safe", "lock", "entry", "vault"],
  },
  // the login is admin / hunter2
  {
    kind: "password",
    pattern:
      /\b(?:log[- ]?in|credentials?|creds|account|zugangsdaten|logindaten|anmeldedaten)\b[^.\n]{0,40}?(?:\bis\b|\bare\b|\bsind\b|\blauten\b|\bwith\b|\bas\b|:)\s*["'`]?[\w.@+-]{2,60}["'`]?\s?[/:|]\s?["'`]?(?<bare>[^\s"'`/]{4,200})/dgi,
    words: [
      "login",
      "log in",
      "log-in",
      "credential",
      "creds",
      "account",
      "zugangsdaten",
      "logindaten",
      "anmeldedaten",
    ],
    isSecret: ({ value, isQuoted }) =>
      /[\d\W]/.test(value) && /\p{L}/u.test(value) && isPassword({ value, isQuoted, after: "" }),
  },
]
