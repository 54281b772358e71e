# shellcheck shell=bash
# test/apt.sh
#		Packages of the distribution by lists of our own: the system's lists and its
#		installed packages do not change.  To be included by other scripts.
#
# Portions Copyright (c) 2026, the neardup developers

# The folder that keeps what takes long to make or to fetch; user nobody must be able to
# read it where root runs tests.  $SANITIZED, or by default /var/cache/neardup for root,
# else neardup in $XDG_CACHE_HOME or ~/.cache.
kept_folder()
{
	if [ "$(id -u)" = 0 ]; then
		echo "${SANITIZED:-/var/cache/neardup}"
	else
		echo "${SANITIZED:-${XDG_CACHE_HOME:-$HOME/.cache}/neardup}"
	fi
}

# The mirror of the machine's own apt sources, of either form.
machine_mirror()
{
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .* main.*/\2/p' |
		grep -v security | head -n 1
}

# Make empty lists of our own below a folder, which other functions use.
make_own_lists()
{
	own_lists=$1
	mkdir -p "$own_lists"/{parts,state/lists/partial,cache/archives/partial}
	: >"$own_lists/sources.list"
}

# Add the machine's own sources to them, as packages of type deb or deb-src.
add_machine_sources()
{
	local type=$1 file

	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		test ! -f "$file" || sed -n "s/^deb\(-src\)\? /$type /p" "$file"
	done | sort -u >>"$own_lists/sources.list"
	for file in /etc/apt/sources.list.d/*.sources; do
		test ! -f "$file" || sed "s/^Types:.*/Types: $type/" "$file" \
			>"$own_lists/parts/$(basename "$file")"
	done
}

# Run apt-get or apt-cache with them.
with_own_lists()
{
	local command=$1
	shift
	"$command" -o Dir::Etc::SourceList="$own_lists/sources.list" \
		-o Dir::Etc::SourceParts="$own_lists/parts" \
		-o Dir::State="$own_lists/state" \
		-o Dir::State::status=/var/lib/dpkg/status \
		-o Dir::Cache="$own_lists/cache" -o APT::Sandbox::User=root "$@"
}
