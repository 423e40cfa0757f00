module netloom.example/peers/metalbond

go 1.25.0

require (
	github.com/ironcore-dev/metalbond v0.5.0
	github.com/sirupsen/logrus v1.9.4
)

require (
	github.com/alecthomas/kong v1.16.0 // indirect
	github.com/bmatcuk/doublestar/v4 v4.0.2 // indirect
	github.com/google/addlicense v1.2.0 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/vishvananda/netlink v1.3.1 // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	gopkg.in/yaml.v2 v2.4.0 // indirect
)
