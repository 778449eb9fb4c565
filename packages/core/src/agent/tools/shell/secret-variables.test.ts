import { expect, test } from "vitest"
import { isSecretVariable } from "./secret-variables.ts"
import { neededEnvironment, withoutSecrets } from "./shell-environment.ts"

const words = (text: string) => text.trim().split(/\s+/)

/** Names that must be hidden even with a harmless value. */
const SECRET_NAMES = words(`
  GITHUB_TOKEN_RO DB_PASSWORD_PROD SSH_PRIVATE_KEY_B64 NPM_CONFIG__AUTHTOKEN PGPASSWORD MYSQL_PWD AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
  AWS_SESSION_TOKEN GH_TOKEN GITHUB_PAT GITLAB_PAT_READ OPENAI_API_KEY OPENAI_API_KEY_2 OPENAI_KEY AZURE_STORAGE_KEY AZURE_CLIENT_SECRET
  AZURE_STORAGE_CONNECTION_STRING SERVICEBUS_CONNECTIONSTRING SECRET_KEY_BASE SLACK_WEBHOOK_URL DOCKER_AUTH_CONFIG DB_PWD SMTP_PASS
  SMTP_PASS_2 npm_config__auth npm_config_//registry.example/:_authToken authToken dbPassword ApiKey apikey APIKEY STRIPEAPIKEY
  SENTRY_DSN SENTRY_DSN_BACKEND JWT JWT_SIGNING_SECRET_OLD COOKIE_SECRET SESSION_COOKIE CURL_COOKIEJAR PHPSESSID_COOKIE
  GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS_JSON GCP_SERVICE_ACCOUNT SERVICE_ACCOUNT_JSON TWINE_PASSWORD POETRY_HTTP_BASIC_PASSWORD
  PYPI_TOKEN_PROD HEROKU_API_KEY VAULT_TOKEN CONSUL_HTTP_TOKEN CONSUL_HTTP_AUTH NOMAD_TOKEN DIGITALOCEAN_ACCESS_TOKEN CF_API_TOKEN
  CLOUDFLARE_API_KEY_OLD TF_VAR_db_password TF_VAR_apiToken ANSIBLE_VAULT_PASSWORD MYSQL_ROOT_PASSWORD POSTGRES_PASSWORD_FILE
  REDIS_PASSWORD_1 RABBITMQ_DEFAULT_PASS KAFKA_SASL_PASSWORD LDAP_BIND_PASSWD KEYCLOAK_ADMIN_PASSWORD GPG_PASSPHRASE SIGNING_KEY_PASSWORD
  ANDROID_KEYSTORE_BASE64 MATCH_PASSWORD FASTLANE_SESSION APPLE_APP_SPECIFIC_PASSWORD EXPO_TOKEN_CI VERCEL_TOKEN NETLIFY_AUTH_TOKEN_2
  SUPABASE_SERVICE_ROLE_KEY FIREBASE_TOKEN TWILIO_AUTH_TOKEN SENDGRID_KEY MAILGUN_APIKEY DD_API_KEY NEW_RELIC_LICENSE_KEY
  GRAFANA_BEARER OTEL_EXPORTER_OTLP_HEADERS_AUTHORIZATION CODECOV_TOKEN SONAR_TOKEN SNYK_TOKEN COVERALLS_REPO_TOKEN HF_TOKEN
  HUGGING_FACE_HUB_TOKEN REPLICATE_API_TOKEN ETH_PRIVATE_KEY WALLET_MNEMONIC MASTER_KEY RAILS_MASTER_KEY ENCRYPTION_KEY_V2 HMAC_KEY
  APP_KEY DJANGO_SECRET SECRET MYSECRET TOKEN TOKEN2 PASSWORD MY.SECRET-KEY X_OAUTH_CLIENT OTP_SEED TOTP TELEGRAM_BOT_TOKEN2 KUBE_TOKEN
  SAS_URL CREDS DB_CREDS_RW ANTHROPIC_BASE_URL
  KUBECONFIG_DATA KUBE_CONFIG_B64 GCP_SA_JSON GOOGLE_SA SA_JSON TWILIO_SID TWILIO_ACCOUNT_SID STRIPE_SK STRIPE_RK_LIVE ALIYUN_AK MINIO_SK
  DOCKERCONFIGJSON DOCKER_CONFIG_JSON NPMRC NPM_RC_B64 PYPIRC_CONTENT PGPASSFILE_CONTENT KRB5_KEYTAB IOS_P12 APPLE_P8 JKS_BASE64 PKCS12
  ID_RSA DEPLOY_ED25519 AZURE_WEBAPP_PUBLISH_PROFILE SVC_ACCT_JSON SERVICEACCOUNT WG_PRIVKEY WIFI_PSK HONEYCOMB_WRITEKEY ACCESS_TOK
  COS_SECRETID HCLOUD_TOKEN LINODE_TOKEN VULTR_API_KEY SCW_SECRET_KEY SCW_ACCESS_KEY OVH_APPLICATION_SECRET OVH_CONSUMER_KEY
  IBMCLOUD_API_KEY OCI_CLI_KEY_CONTENT ALGOLIA_APIKEY MAPBOX_SK PLANETSCALE_SERVICE_TOKEN NEON_API_KEY TURSO_AUTH_TOKEN
  UPSTASH_REDIS_REST_TOKEN MONGO_INITDB_ROOT_PASSWORD COUCHDB_PASSWORD ELASTIC_APIKEY RABBITMQ_ERLANG_COOKIE MINIO_ROOT_PASSWORD S3_SK
  OSS_AK COS_SECRETKEY WX_APPSECRET ALIPAY_PRIVATE_KEY TWITTER_BEARER FB_APP_SECRET LINE_CHANNEL_SECRET ZOOM_JWT K8S_SA_TOKEN
  DOCKERHUB_PASSWD GHCR_PAT NUGET_APIKEY MAVEN_GPG_PASSPHRASE OSSRH_PASSWORD GPG_PRIVATE GPG_SIGNING_KEY APPSTORE_P8 APPLE_CERT_P12
  ANDROID_JKS KEYSTORE_PASS PLAY_SA_JSON CHROMATIC_PROJECT_TOKEN CYPRESS_RECORD_KEY PERCY_TOKEN LD_SDK_KEY STATSIG_SECRET NEXTAUTH_SECRET
  AUTH_SECRET IRON_PASSWORD PASETO_KEY WEBHOOK_SIGNING PADDLE_VENDOR_AUTH LEMON_SQUEEZY_KEY RAZORPAY_SECRET ADYEN_HMAC
  BRAINTREE_PRIVATE_KEY MOLLIE_KEY BINANCE_SECRET ALCHEMY_KEY DEPLOYER_MNEMONIC GCR_JSON_KEY GAR_SA GOOGLE_PLAY_SERVICE_ACCOUNT_JSON
  FIREBASE_ADMIN_SA SSH_KEY SSH_DEPLOY_RSA KNOWN_SECRET VPN_PSK IPSEC_PSK SNMP_AUTHKEY TWILIO_API_KEY_SID PLIVO_AUTH_ID_TOKEN
  VONAGE_SECRET SINCH_TOK MESSAGEBIRD_ACCESSKEY CLOUDANT_APIKEY WATSON_APIKEY AIVEN_TOKEN CONFLUENT_CLOUD_API_SECRET DATABRICKS_TOKEN
  SNOWFLAKE_PASSWORD SNOWFLAKE_PRIVATE_KEY_PASSPHRASE BIGQUERY_CREDENTIALS AZURE_DEVOPS_EXT_PAT AZDO_PERSONAL_ACCESS_TOKEN
  SP_CLIENT_SECRET ACR_PASSWORD PYPIRC_B64 GEM_HOST_API_KEY HEX_API_KEY CARGO_REGISTRY_TOKEN COMPOSER_AUTH POETRY_PYPI_TOKEN_PYPI
  CONAN_LOGIN_PASSWORD ARTIFACTORY_APIKEY NEXUS_PASS SONATYPE_TOKEN GRADLE_PUBLISH_KEY`)

test(`PERM-8 ${SECRET_NAMES.length} odd names of secrets are hidden from children`, () => {
  expect(SECRET_NAMES.filter((name) => !isSecretVariable(name, "x"))).toEqual([])
  expect(SECRET_NAMES.length).toBeGreaterThanOrEqual(100)
})

test("PERM-8 the address of a store is hidden with its password, however it is written", () => {
  for (const address of [
    "postgres://app:pw@db/x",
    "postgres://app:1/2@db/x",
    "postgres://app:%zz@db/x",
    "postgres:app:pw@db",
  ])
    expect([address, isSecretVariable("STRATA_STORE", address)]).toEqual([address, true])
  for (const address of ["memory:", "postgres://app@db:5432/x", "postgres://db/x"])
    expect([address, isSecretVariable("STRATA_STORE", address)]).toEqual([address, false])
})

const HARMLESS: Readonly<Record<string, string>> = {
  PATH: "/home/me/.local/bin:/usr/local/bin:/usr/bin",
  HOME: "/home/me",
  PWD: "/home/me/project",
  OLDPWD: "/",
  SSH_AUTH_SOCK: "/run/user/1000/keyring/ssh",
  SSH_ASKPASS: "/usr/bin/ksshaskpass",
  GIT_ASKPASS: "/usr/share/code/askpass.sh",
  KEYBOARD: "us",
  KEYMAP: "de-latin1",
  KEYTIMEOUT: "1",
  LESSKEY: "/home/me/.less",
  TOKENIZERS_PARALLELISM: "false",
  MAX_TOKENS: "4096",
  SESSION_TIMEOUT: "3600",
  AUTH_ENABLED: "true",
  ANSIBLE_HOST_KEY_CHECKING: "False",
  NPM_CONFIG_PRIVATE: "true",
  GOPRIVATE: "git.example/mine",
  GIT_AUTHOR_NAME: "Ada Lovelace",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_CONFIG_KEY_0: "core.quotepath",
  GIT_SSH_COMMAND: "ssh -i ~/.ssh/deploy -o IdentitiesOnly=yes",
  XAUTHORITY: "/run/user/1000/.mutter-Xwaylandauth.ABC123",
  XDG_SESSION_ID: "3f2b7c1e-8a4d-4b6f-9e21-5c7d8e9f0a1b",
  XDG_SESSION_TYPE: "wayland",
  DESKTOP_SESSION: "ubuntu",
  SESSION_MANAGER: "local/host:@/tmp/.ICE-unix/2012,unix/host:/tmp/.ICE-unix/2012",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus",
  TERM_SESSION_ID: "w0t0p0:8D1C2E3F-4A5B-6C7D-8E9F-0A1B2C3D4E5F",
  COMPASS_HOME: "/opt/compass",
  BYPASS_CACHE: "1",
  MONKEY: "yes",
  TURKEY: "ankara",
  AUTHORS: "me",
  PATTERN: "*.ts",
  PATH_INFO: "/x",
  CI_COMMIT_SHA: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  GITHUB_SHA: "da39a3ee5e6b4b0d3255bfef95601890afd80709",
  BUILD_ID: "a3c65c2974270fd093ee8a9bf8ae7d0b",
  GITHUB_RUN_ID: "9182736450",
  LaunchInstanceID: "5D0B0B5E-6B1A-4C38-9E0B-7B8E8D7A2C11",
  npm_package_integrity: `sha512-${Buffer.from("x".repeat(64)).toString("base64")}`,
  npm_config_user_agent: "npm/11.0.0 node/v24.0.0 linux arm64 workspaces/false",
  npm_lifecycle_script: "vitest run",
  LS_COLORS: "rs=0:di=01;34:ln=01;36:*.tar=01;31:*.key=00;32:*.pem=00;32",
  PS1: "\\[\\e]0;\\u@\\h: \\w\\a\\]\\u@\\h:\\w\\$ ",
  DATABASE_URL: "postgres://db.example/x",
  HTTPS_PROXY: "http://me:hunter22@proxy.example:3128",
  NIX_PROFILES: "/nix/var/nix/profiles/default /home/me/.nix-profile",
  NIX_STORE_ITEM: "/nix/store/0c4n0cjkqg5h6yk1vj5m4fjf8zrvplxg-bash-5.2",
  DOCKER_HOST: "unix:///run/user/1000/docker.sock",
  KUBERNETES_POD: "web-frontend-7d9f8b6c5d-x2x4q",
  TARGET: "aarch64-unknown-linux-gnueabihf",
  TZ: "Europe/Berlin",
  JAVA_TOOL_OPTIONS: "-Xmx2g -Dfile.encoding=UTF-8",
  VSCODE_IPC_HOOK_CLI: "/run/user/1000/vscode-ipc-1b2c3d4e-0000-4000-8000-a1b2c3d4e5f6.sock",
  COLORTERM: "truecolor",
}

test(`PERM-8 ${Object.keys(HARMLESS).length} variables that only sound or look like secrets stay`, () => {
  expect(Object.keys(HARMLESS).filter((name) => isSecretVariable(name, HARMLESS[name]!))).toEqual([])
})

/** Variables that programs need, and names whose parts are not abbreviations of secrets, with usual values. */
const USUAL = words(String.raw`
  KUBECONFIG=/home/me/.kube/config:/home/me/.kube/prod KUBECONFIG_PATH=/home/me/.kube/config KUBE_CONFIG_PATH=~/.kube/config
  KUBE_CONTEXT=prod DOCKER_CONFIG=/home/me/.docker NPMRC_PATH=./.npmrc NPM_CONFIG_USERCONFIG=/home/me/.npmrc
  KRB5_KEYTAB_FILE=/etc/krb5.keytab ORACLE_SID=ORCL SID=XE SA=South SK=sk USA=yes RISK=low TASK=build DISK=/dev/sda MASK=022
  LC_TIME=sk_SK.UTF-8 GOPATH=/home/me/go CI=true PGDATA=/var/lib/postgresql/data DATA_DIR=/data APPDATA=C:\x INPUTRC=/home/me/.inputrc
  CONFIG_JSON=/etc/app/config.json SSL_CERT_FILE=/etc/ssl/cert.pem SSH_AGENT_PID=123 AWS_PROFILE=dev AWS_ACCOUNT_ID=123456789012
  GCP_SA_FILE=/run/sa.json GCP_SA_ENABLED=true AWS_S3_BUCKET=my-bucket AWS_ENDPOINT_URL=http://localhost:4566 AWS_SDK_LOAD_CONFIG=1
  GCP_ZONE=europe-west1-b AZURE_CONFIG_DIR=/home/me/.azure HELM_HOME=/h HELM_NAMESPACE=x ISTIO_VERSION=1.20.1 KUBE_EDITOR=vim
  KUBECTL_EXTERNAL_DIFF=diff MINIKUBE_HOME=/m KIND_EXPERIMENTAL_PROVIDER=podman DOCKER_CONTEXT=default DOCKER_DEFAULT_PLATFORM=linux/amd64
  BUILDKIT_PROGRESS=plain NPM_CONFIG_LOGLEVEL=warn npm_node_execpath=/usr/bin/node npm_lifecycle_event=test COREPACK_ENABLE_STRICT=0
  BUN_INSTALL=/b DENO_DIR=/d TURBO_TEAM=x NX_CACHE_DIRECTORY=/n JEST_WORKER_ID=1 VITEST=true PLAYWRIGHT_BROWSERS_PATH=/p
  PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium CHROME_BIN=/c PYENV_ROOT=/p POETRY_HOME=/p UV_CACHE_DIR=/u PYTEST_ADDOPTS=-q
  DJANGO_SETTINGS_MODULE=app.settings FLASK_APP=app.py RAILS_ENV=test BUNDLE_PATH=/b GEM_HOME=/g RBENV_ROOT=/r PHP_INI_SCAN_DIR=/p
  COMPOSER_HOME=/c MIX_ENV=test ERL_AFLAGS=-kernel GHCUP_INSTALL_BASE_PREFIX=/h OPAMROOT=/o SDKMAN_DIR=/s M2_HOME=/m JAVA_OPTS=-Xmx1g
  KOTLIN_HOME=/k FLUTTER_ROOT=/f ANDROID_NDK_HOME=/n XCODE_VERSION_ACTUAL=1500 DEVELOPER_DIR=/Applications/Xcode.app SDKROOT=/s
  MACOSX_DEPLOYMENT_TARGET=13.0 VCPKG_ROOT=/v CONAN_USER_HOME=/c EMSDK=/e WASMTIME_HOME=/w CUDA_HOME=/usr/local/cuda
  CUDA_VISIBLE_DEVICES=0 NVIDIA_VISIBLE_DEVICES=all HF_HOME=/h TRANSFORMERS_CACHE=/t TORCH_HOME=/t OMP_NUM_THREADS=4 MPLBACKEND=Agg
  JUPYTER_CONFIG_DIR=/j DBT_PROFILES_DIR=/d SPARK_HOME=/s HADOOP_CONF_DIR=/h AIRFLOW_HOME=/a TF_LOG=DEBUG TF_PLUGIN_CACHE_DIR=/t
  TF_VAR_region=eu PULUMI_HOME=/p ANSIBLE_CONFIG=/a PACKER_LOG=1 VAGRANT_HOME=/v NOMAD_ADDR=http://n:4646 GIT_DIR=.git GIT_EDITOR=vim
  GIT_PAGER=cat GIT_TERMINAL_PROMPT=0 GIT_COMMITTER_NAME=me HGRCPATH=/h SVN_EDITOR=vi LESSOPEN=|lesspipe LESSCLOSE=x MORE=-x BAT_THEME=x
  FZF_DEFAULT_OPTS=--height STARSHIP_SHELL=bash ZDOTDIR=/z FPATH=/f HISTFILESIZE=1 PROMPT_COMMAND=x PROMPT=% SUDO_USER=me SUDO_UID=1000
  USERNAME=me COMPUTERNAME=PC USERPROFILE=C:\Users\me SystemRoot=C:\Windows ComSpec=C:\cmd.exe PATHEXT=.EXE
  PROCESSOR_ARCHITECTURE=AMD64 NUMBER_OF_PROCESSORS=8 SESSIONNAME=Console LESSHISTFILE=- INVOCATION_ID=0123456789abcdef0123456789abcdef
  JOURNAL_STREAM=8:1 SYSTEMD_EXEC_PID=1 NOTIFY_SOCKET=/n container=podman SNAP=/snap FLATPAK_ID=org.x GTK_MODULES=x
  QT_QPA_PLATFORM=wayland GDK_BACKEND=x11 XMODIFIERS=@im=ibus IM_CONFIG_PHASE=1 XCURSOR_THEME=x WINDOWID=1234 ALACRITTY_LOG=/a
  KITTY_WINDOW_ID=1 WEZTERM_PANE=0 VSCODE_PID=1 TERM_FEATURES=x INSIDE_EMACS=29 NVIM=/n`)

test(`PERM-8 ${USUAL.length} variables that programs need stay`, () => {
  const removed = USUAL.filter((one) =>
    isSecretVariable(one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)),
  )
  expect(removed).toEqual([])
  expect(USUAL.length).toBeGreaterThanOrEqual(100)
})

test("PERM-8 the path of a file with credentials stays, its content does not", () => {
  const config = "apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user:\n    client-key-data: eHl6"
  expect(isSecretVariable("KUBECONFIG", "/home/me/.kube/config")).toBe(false)
  expect(isSecretVariable("KUBECONFIG", config)).toBe(true)
  expect(isSecretVariable("KUBECONFIG", base64(config))).toBe(true)
})

const digits = "0123456789abcdef"
const hex = (length: number) => Array.from({ length }, (_, at) => digits[(at * 7 + 3) % 16]).join("")
const base64 = (text: string) => Buffer.from(text).toString("base64")

test("PERM-8 a value with the shape of a secret is hidden, whatever its name", () => {
  const values = [
    "postgres://me:hunter22@db.example/x",
    "redis://:hunter22@cache.example",
    `sk-ant-${"a1".repeat(15)}`,
    `ghp_${"a".repeat(36)}`,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nx",
    `key-${hex(32)}`,
    `dp.st.prd.${"aB3".repeat(14)}`,
    base64(`ghp_${"a".repeat(36)}`),
    base64("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n"),
    Buffer.from(`AKIA${"Q7".repeat(8)}`).toString("hex"),
    "Kx9vQ2mLr8TzW4bNc7PyHd3J", // random
    "q8Zt-4KpW_m2Xc9RvL0sYb7Nd",
    "s8f3k2j9x7q4m1z6p0w5v8n2b7h4g1t9",
    "Authorization: Basic bWU6aHVudGVyMjI=",
  ]
  expect(values.filter((value) => !isSecretVariable("MINE", value))).toEqual([])
})

test("PERM-8 git's counted settings are whole or gone", () => {
  const settings = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.extraheader" }
  const plain = { ...settings, GIT_CONFIG_VALUE_0: "X-Trace: 1" }
  expect(withoutSecrets(plain)).toEqual(plain)
  expect(withoutSecrets({ ...settings, GIT_CONFIG_VALUE_0: "Authorization: Basic bWU6aHVudGVyMjI=" })).toEqual({
    GIT_CONFIG_KEY_0: "http.extraheader",
  })
})

test("PERM-8 a command that no one allowed gets what it needs and nothing else", () => {
  const env = { ...HARMLESS, LC_ALL: "C", STRATA_SHELL: "mark", MY_SETTING: "x", GITHUB_TOKEN: "x" }
  const got = neededEnvironment(env)
  expect(got).toMatchObject({
    PATH: HARMLESS.PATH,
    HOME: HARMLESS.HOME,
    LANG: "C",
    STRATA_SHELL: "mark",
    PAGER: "cat",
  })
  for (const name of ["MY_SETTING", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "HTTPS_PROXY", "DATABASE_URL", "DOCKER_HOST"])
    expect(got).not.toHaveProperty(name)
})
