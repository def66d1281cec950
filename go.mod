module godwit

go 1.26
