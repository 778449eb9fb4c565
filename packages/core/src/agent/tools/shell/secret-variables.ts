/**
 * Which variables of an environment hold secrets. Names and values both count: a part of the name that means a secret, wherever it is, or
 * a value with the shape of a token. What programs need to start stays.
 */

import { findSecrets } from "../../../base/secrets/find-secrets.ts"
import { bitsPerCharacter } from "../../../base/secrets/secret-values.ts"
import { remembering } from "../../../base/work.ts"

/** Any value under such a name is a secret. Parts are what separators and capitals divide: `npm_config__authToken` has AUTH and TOKEN. */
const SECRET_PARTS = new Set(
  `TOKEN SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE PASSPHRASES PASSCODE PASSWORT KENNWORT PASS PWD PW CREDENTIAL CREDENTIALS CREDS CRED JWT
  BEARER APIKEY APIKEYS AUTHORIZATION MNEMONIC OTP TOTP HMAC PEM PFX KEYSTORE NETRC PGPASS PSK PRESHARED SECRETID COOKIEJAR SESSID SESSIONID CONNSTR`.split(
    /\s+/,
  ),
)

/** These also occur in the names of switches and limits: a yes, a no or a short number under them is no secret. */
const LIKELY_PARTS = new Set(
  `KEY KEYS TOKENS AUTH OAUTH COOKIE COOKIES SESSION PRIVATE PAT DSN SAS WEBHOOK WEBHOOKS SIGNATURE SIGNING ENCRYPTION SALT PEPPER
  CONNECTIONSTRING DBURL`.split(/\s+/),
)

/**
 * Short for secret, access and restricted key, pre-shared key, token, service account, and the id that goes with a key. As the whole name
 * they mean something else, and a path under them is only the place of a file.
 */
const SHORT_PARTS = new Set(["SK", "AK", "RK", "TOK", "SA", "SID"])

/** Files with credentials in them: the path of one is no secret, its content is. */
const SECRET_FILES =
  /(?:^|_)(?:KUBE_?CONFIG|DOCKER_?CONFIG(?:_?JSON)?|NPM_?RC|PYPI_?RC|NET_?RC|PG_?PASS_?FILE|KEYTAB|P12|P8|PKCS_?12|JKS|RSA|ED25519|PUBLISH_?(?:PROFILE|SETTINGS))(?:_|$)/

/** Run together with a word before or after: PGPASSWORD, AUTHTOKEN, SECRETKEY. No ordinary word ends like this. */
const JOINED =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:API|ACCESS|SECRET|PRIVATE|SSH|AUTH|MASTER|SIGNING|ENCRYPTION|DEPLOY|ACCOUNT|STORAGE|WRITE)KEYS?|PRIVKEY|SERVICEACCOUNT)\d*$/

/** Two parts that mean a secret only together. */
const PAIRS =
  /(?:^|_)(?:CONNECTION_STRING|ACCESS_CODE|RECOVERY_CODES?|(?:SERVICE|SVC)_(?:ACCOUNT|ACCT)|SEED_PHRASE|BACKUP_CODES?)(?:_|$)/

/** The key and the address of the model that runs the conversation. */
const OWN = /^ANTHROPIC_/i

/** An address of a store with a password in it, also one that is not written as it should be. */
const isStoreWithPassword = (name: string, value: string): boolean => name === "STRATA_STORE" && /:.+:.*@/s.test(value)

/** Names that only sound like secrets, and that programs need: places of sockets, desktop sessions, windows of terminals. */
const NEEDED =
  /^(?:PWD|OLDPWD|ORACLE_SID|SSH_AUTH_SOCK|(?:GIT|SSH|SUDO)_ASKPASS|SSH_ASKPASS_REQUIRE|DESKTOP_SESSION|SESSION_MANAGER|GNOME_DESKTOP_SESSION_ID|DBUS_SESSION_BUS_(?:ADDRESS|PID|WINDOWID)|XDG_SESSION_(?:ID|TYPE|CLASS|DESKTOP|PATH)|KDE_(?:FULL_SESSION|SESSION_UID|SESSION_VERSION)|(?:TERM|ITERM|SHELL|WT)_SESSION(?:_ID)?|ZELLIJ_SESSION_NAME|GIT_CONFIG_KEY_\d+|COMP_KEY|PASSWORD_STORE_DIR|GPG_KEY)$/

/** Programs cannot reach the network without these, even where the proxy wants a password. */
const PROXIES = /^(?:https?|all|ftp|no)_proxy$/i

export function isSecretVariable(name: string, value: string): boolean {
  if (NEEDED.test(name)) return false
  return soundsSecret(name, value) || (!PROXIES.test(name) && isSecretValue(value))
}

function soundsSecret(name: string, value: string): boolean {
  if (OWN.test(name) || isStoreWithPassword(name, value)) return true
  const parts = partsOf(name)
  if (parts.some((part) => SECRET_PARTS.has(part) || JOINED.test(part)) || PAIRS.test(parts.join("_"))) return true
  if (isSwitchOrNumber(value)) return false
  if (parts.some((part) => LIKELY_PARTS.has(part))) return true
  const isShort = parts.length > 1 && parts.some((part) => SHORT_PARTS.has(part))
  return (isShort || SECRET_FILES.test(wordsOf(name).join("_"))) && !arePaths(value)
}

/** `authToken`, `AUTH__TOKEN` and `auth-token` have the same parts. Numbers at the end of a part do not count: `TOKEN2`. */
const partsOf = (name: string): readonly string[] => wordsOf(name).map((word) => word.replace(/(?<=[A-Z])\d+$/, ""))

const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .split(/[^A-Za-z\d]+/)
    .map((word) => word.toUpperCase())

const isSwitchOrNumber = (value: string): boolean =>
  /^(?:|true|false|yes|no|on|off|none|null|auto|always|never|default|\d{1,7})$/i.test(value.trim())

const SHORTEST_VALUE = 8 // characters: no form that is known is shorter

const isSecretValue = (value: string): boolean =>
  value.length >= SHORTEST_VALUE && !arePaths(value) && shapeOf(value) === "secret"

const arePaths = (value: string): boolean =>
  /^[A-Za-z]:[\\/]/.test(value) ||
  value.split(":").every((path) => path === "" || /^(?:~|\.{1,2})?\/[\w.+@ -]/.test(path))

/** Every command asks again about the same values. */
const shapeOf = remembering((value) =>
  findSecrets(value).length > 0 || /^sk-[\w-]{16,}$/.test(value) || isRandom(value) ? "secret" : "plain",
)

const MIN_RANDOM = 20 // characters: shorter ones are ids of builds and hosts
const MIN_ONE_CASE = 32 // without capitals or without small letters, fewer are names of machines
const MIN_BITS = 3.5 // a character of random text in base 36 has 5.2 bits, in a text of 20 of them about 4

/** One word that a machine drew: no path, no id in hexadecimal digits (a commit, a UUID), no checksum that names its kind, no name. */
function isRandom(value: string): boolean {
  if (!/^[\w+/=.~-]+$/.test(value) || value.length < MIN_RANDOM) return false
  if (/^[~.]?\/|^sha\d+-|^[\da-f-]+$|^[\dA-F-]+$/.test(value)) return false
  const classes = [/[a-z]/, /[A-Z]/, /\d/].filter((one) => one.test(value)).length
  if (classes < 2 || !/\d/.test(value) || (classes < 3 && value.length < MIN_ONE_CASE)) return false
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []
  const isWords = words.length > 0 && value.length / words.length > 3 // random text changes its kind every second character
  return !isWords && bitsPerCharacter(value) >= MIN_BITS
}
