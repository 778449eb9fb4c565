/**
 * Detects environment variables that contain secrets, by name or value: any part of the name that means a secret, or a value with the
 * format of a token. Variables that programs need to start are exempt.
 */

import { findSecrets } from "../../../base/secrets/find-secrets.ts"
import { bitsPerCharacter } from "../../../base/secrets/secret-values.ts"
import { memoize } from "../../../base/work.ts"

/**
 * Name parts that always indicate a secret. Names are split at separators and capitals: `npm_config__authToken` contains AUTH and TOKEN.
 */
const SECRET_PARTS = new Set(
  `TOKEN SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE PASSPHRASES PASSCODE PASSWORT KENNWORT PASS PWD PW CREDENTIAL CREDENTIALS CREDS CRED JWT
  BEARER APIKEY APIKEYS AUTHORIZATION MNEMONIC OTP TOTP HMAC PEM PFX KEYSTORE NETRC PGPASS PSK PRESHARED SECRETID COOKIEJAR SESSID SESSIONID CONNSTR`.split(
    /\s+/,
  ),
)

/**
 * Name parts that may indicate a secret. They also occur in names of switches and limits, so booleans and short numbers are not secrets.
 */
const LIKELY_PARTS = new Set(
  `KEY KEYS TOKENS AUTH OAUTH COOKIE COOKIES SESSION PRIVATE PAT DSN SAS WEBHOOK WEBHOOKS SIGNATURE SIGNING ENCRYPTION SALT PEPPER
  CONNECTIONSTRING DBURL`.split(/\s+/),
)

/**
 * Abbreviations of secret, access and restricted key, token, service account, and key id. As a complete name they mean something else, and
 * a path as the value is only a file location.
 */
const SHORT_PARTS = new Set(["SK", "AK", "RK", "TOK", "SA", "SID"])

/** Names of variables for credential files. The path is not a secret, but the content is. */
const SECRET_FILES =
  /(?:^|_)(?:KUBE_?CONFIG|DOCKER_?CONFIG(?:_?JSON)?|NPM_?RC|PYPI_?RC|NET_?RC|PG_?PASS_?FILE|KEYTAB|P12|P8|PKCS_?12|JKS|RSA|ED25519|PUBLISH_?(?:PROFILE|SETTINGS))(?:_|$)/

/** Compound words: PGPASSWORD, AUTHTOKEN, SECRETKEY. No ordinary word has such an ending. */
const JOINED =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:API|ACCESS|SECRET|PRIVATE|SSH|AUTH|MASTER|SIGNING|ENCRYPTION|DEPLOY|ACCOUNT|STORAGE|WRITE)KEYS?|PRIVKEY|SERVICEACCOUNT)\d*$/

/** Pairs of name parts that indicate a secret together. */
const PAIRS =
  /(?:^|_)(?:CONNECTION_STRING|ACCESS_CODE|RECOVERY_CODES?|(?:SERVICE|SVC)_(?:ACCOUNT|ACCT)|SEED_PHRASE|BACKUP_CODES?)(?:_|$)/

/** Variables with the key and address of the conversation's model. */
const OWN = /^ANTHROPIC_/i

/** Whether the variable is a store address with a password, even a malformed one. */
const isStoreWithPassword = (name: string, value: string): boolean => name === "STRATA_STORE" && /:.+:.*@/s.test(value)

/** Names that only resemble secrets, and that programs need: sockets, desktop sessions, terminal windows. */
const NEEDED =
  /^(?:PWD|OLDPWD|ORACLE_SID|SSH_AUTH_SOCK|(?:GIT|SSH|SUDO)_ASKPASS|SSH_ASKPASS_REQUIRE|DESKTOP_SESSION|SESSION_MANAGER|GNOME_DESKTOP_SESSION_ID|DBUS_SESSION_BUS_(?:ADDRESS|PID|WINDOWID)|XDG_SESSION_(?:ID|TYPE|CLASS|DESKTOP|PATH)|KDE_(?:FULL_SESSION|SESSION_UID|SESSION_VERSION)|(?:TERM|ITERM|SHELL|WT)_SESSION(?:_ID)?|ZELLIJ_SESSION_NAME|GIT_CONFIG_KEY_\d+|COMP_KEY|PASSWORD_STORE_DIR|GPG_KEY)$/

/** Proxy variables, which programs need to reach the network, even if they contain a password. */
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

/** Parts of a name: `authToken`, `AUTH__TOKEN` and `auth-token` have the same parts. Trailing digits are ignored: `TOKEN2`. */
const partsOf = (name: string): readonly string[] => wordsOf(name).map((word) => word.replace(/(?<=[A-Z])\d+$/, ""))

const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .split(/[^A-Za-z\d]+/)
    .map((word) => word.toUpperCase())

const isSwitchOrNumber = (value: string): boolean =>
  /^(?:|true|false|yes|no|on|off|none|null|auto|always|never|default|\d{1,7})$/i.test(value.trim())

const SHORTEST_VALUE = 8 // characters; no known format is shorter

const isSecretValue = (value: string): boolean =>
  value.length >= SHORTEST_VALUE && !arePaths(value) && shapeOf(value) === "secret"

const arePaths = (value: string): boolean =>
  /^[A-Za-z]:[\\/]/.test(value) ||
  value.split(":").every((path) => path === "" || /^(?:~|\.{1,2})?\/[\w.+@ -]/.test(path))

/** Memoized, because every command checks the same values. */
const shapeOf = memoize((value) =>
  findSecrets(value).length > 0 || /^sk-[\w-]{16,}$/.test(value) || isRandom(value) ? "secret" : "plain",
)

const MIN_RANDOM = 20 // characters; shorter values are ids of builds and hosts
const MIN_ONE_CASE = 32 // minimum length if only one letter case occurs; shorter values are machine names
const MIN_BITS = 3.5 // random text in base 36 has 5.2 bits per character, and about 4 in a sample of 20

/** Whether a value looks like random text: not a path, a hexadecimal id (a commit, a UUID), a labelled checksum, or a name. */
function isRandom(value: string): boolean {
  if (!/^[\w+/=.~-]+$/.test(value) || value.length < MIN_RANDOM) return false
  if (/^[~.]?\/|^sha\d+-|^[\da-f-]+$|^[\dA-F-]+$/.test(value)) return false
  const classes = [/[a-z]/, /[A-Z]/, /\d/].filter((one) => one.test(value)).length
  if (classes < 2 || !/\d/.test(value) || (classes < 3 && value.length < MIN_ONE_CASE)) return false
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []
  const isWords = words.length > 0 && value.length / words.length > 3 // in random text, the character class changes every second character
  return !isWords && bitsPerCharacter(value) >= MIN_BITS
}
